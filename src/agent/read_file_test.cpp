#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "agent/test_files.hpp"

namespace oyat::agent {
namespace {

namespace fs = std::filesystem;
using testing::AgentFiles;
using testing::code_of;
using testing::Heard;
using testing::put;
using testing::TestHost;
using wire::ChannelId;
using wire::FileType;
using wire::FrameKind;

TEST_F(AgentFiles, WhatIsWrittenIsRead) {
    std::string content;
    for (int i = 0; content.size() < 5'000'000; ++i) content += std::to_string(i) + '\n';
    const Heard& written = write({.path = dir + "/f"}, content);
    ASSERT_EQ(written.end->code, 0u) << written.end->message;
    ASSERT_EQ(written.entries().size(), 1u);
    EXPECT_EQ(written.entries()[0].size, content.size());
    EXPECT_EQ(written.entries()[0].type, FileType::file);
    Heard& got = read({.path = dir + "/f"});
    EXPECT_TRUE(got.data[ChannelId::file] == content);
    EXPECT_TRUE(got.eof);
    EXPECT_EQ(got.entries()[0].path, dir + "/f");
    EXPECT_EQ(got.end->code, 0u);
}

TEST_F(AgentFiles, ReadsARange) {
    put(dir + "/f", "0123456789");
    EXPECT_EQ(read({.path = dir + "/f", .offset = 3, .length = 4}).data[ChannelId::file], "3456");
    EXPECT_EQ(read({.path = dir + "/f", .offset = 8, .length = 40}).data[ChannelId::file], "89");
    EXPECT_EQ(read({.path = dir + "/f", .offset = 80}).data[ChannelId::file], "");
    EXPECT_EQ(read({.path = dir + "/f", .offset = UINT64_MAX}).end->code, code_of(Errc::invalid_argument));
    Heard& only = read({.path = dir + "/f", .stat_only = true});
    EXPECT_EQ(only.entries()[0].size, 10u);
    EXPECT_EQ(only.bytes, 0u);
}

TEST_F(AgentFiles, FilesOfTheKernelStreamToTheirEnd) {
    EXPECT_NE(read({.path = "/proc/meminfo"}).data[ChannelId::file].find("MemTotal"), std::string::npos);
}

TEST_F(AgentFiles, SaysWhyAPathCannotBeRead) {
    ::mkfifo((dir + "/fifo").c_str(), 0666);
    fs::create_symlink(dir + "/loop", dir + "/loop");
    EXPECT_EQ(read({.path = dir + "/none"}).end->message, "path '" + dir + "/none' does not exist");
    EXPECT_EQ(read({.path = dir + "/none"}).end->code, code_of(Errc::not_found));
    EXPECT_EQ(read({.path = dir}).end->code, code_of(Errc::invalid_argument));
    EXPECT_EQ(read({.path = dir + "/fifo"}).end->message, "path '" + dir + "/fifo' is a named pipe");
    EXPECT_EQ(read({.path = dir + "/socket"}).end->message, "path '" + dir + "/socket' is a socket");
    EXPECT_EQ(read({.path = "/dev/zero"}).end->message, "path '/dev/zero' is a device");
    EXPECT_EQ(read({.path = dir + "/loop"}).end->code, code_of(Errc::failed_precondition));
    EXPECT_EQ(read({.path = "/etc/passwd/x"}).end->code, code_of(Errc::not_found));
    EXPECT_EQ(read({.path = std::string("/a\0b", 4)}).end->code, code_of(Errc::invalid_argument));
    EXPECT_EQ(read({.path = dir + "/" + std::string(256, 'x')}).end->err,
              static_cast<unsigned>(ENAMETOOLONG));
    EXPECT_EQ(read({.path = "~other/x"}).end->code, code_of(Errc::invalid_argument));
    EXPECT_EQ(read({.path = dir, .user = "no-such-user"}).end->code, code_of(Errc::failed_precondition));
}

// The agent reads files as itself: its own memory and descriptors must stay out of reach (threat J-11).
TEST_F(AgentFiles, ItsOwnProcDirectoryIsClosed) {
    const std::string own = "/proc/" + std::to_string(agent.pid());
    for (const std::string& path :
         {std::string{"/proc/self/environ"}, std::string{"/proc/self/mem"}, std::string{"/proc/self/fd/200"},
          std::string{"/proc/thread-self/maps"}, own + "/mem", own + "/cmdline",
          own + "/task/" + std::to_string(agent.pid()) + "/mem", std::string{"/proc/self/root/etc/passwd"},
          std::string{"/dev/fd/200"}}) {
        EXPECT_NE(read({.path = path}).end->code, 0u) << path;
        EXPECT_NE(write({.path = path}, "x").end->code, 0u) << path;
        EXPECT_EQ(host.heard(1).bytes, 0u) << path;
    }
    EXPECT_NE(list("/proc/self").end->code, 0u);
    EXPECT_NE(list(own + "/fd").end->code, 0u);
}

TEST_F(AgentFiles, ADownloadThatIsGivenUpDisturbsNobody) {
    put(dir + "/big", std::string(20'000'000, 'x'));
    host.set_credit(TestHost::Credit::never);
    wire::Request request;
    request.read_file = wire::ReadFile{.path = dir + "/big"};
    const auto stream = host.open(request);
    host.until([&] { return host.heard(stream).bytes > 200'000; });
    EXPECT_EQ(host.shell("echo meanwhile").out(), "meanwhile\n");
    EXPECT_LE(host.heard(stream).bytes, wire::kInitialWindow);
    host.send(FrameKind::cancel, stream);
    EXPECT_EQ(host.until_end(stream).end->code, code_of(Errc::canceled));
}

// Both frames are there in one turn of the agent's loop: the stream ends before its first step, which is due
// all the same. TestHost minds what follows END.
TEST_F(AgentFiles, NothingFollowsTheEndOfADownloadThatWasCancelledAtOnce) {
    put(dir + "/f", std::string(300'000, 'x'));
    wire::Request request;
    request.read_file = wire::ReadFile{.path = dir + "/f"};
    std::string frames;
    for (std::uint32_t stream = 1; stream <= 8; ++stream) {
        wire::append_frame(frames, FrameKind::request, stream, ChannelId::none, wire::encode(request));
        wire::append_frame(frames, FrameKind::cancel, stream, ChannelId::none, {});
    }
    wire::append_frame(frames, FrameKind::request, 9, ChannelId::none, wire::encode(request));
    host.send_raw(frames);
    EXPECT_EQ(host.until_end(9).data[ChannelId::file].size(), 300'000u);
    for (std::uint32_t stream = 1; stream <= 8; ++stream) {
        EXPECT_EQ(host.heard(stream).end->code, code_of(Errc::canceled));
        EXPECT_EQ(host.heard(stream).bytes, 0u);
    }
}

}  // namespace
}  // namespace oyat::agent
