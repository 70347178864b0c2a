#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <map>
#include <string>

#include "agent/test_files.hpp"

namespace oyat::agent {
namespace {

namespace fs = std::filesystem;
using testing::AgentFiles;
using testing::code_of;
using testing::content_of;
using testing::Heard;
using testing::put;
using wire::ChannelId;
using wire::FrameKind;

TEST_F(AgentFiles, NewFilesAndDirectoriesBelongToTheUser) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    const Heard& written = write({.path = dir + "/new/deep/f", .user = "daemon"}, "x");
    EXPECT_EQ(written.entries()[0].owner, "daemon");
    for (const char* path : {"/new", "/new/deep", "/new/deep/f"}) {
        EXPECT_EQ(stat(dir + path).entries()[0].owner, "daemon") << path;
        EXPECT_EQ(stat(dir + path).entries()[0].group, "daemon") << path;
    }
    EXPECT_EQ(stat(dir + "/new/deep/f").entries()[0].mode & 07777, 0644u);
    EXPECT_EQ(stat(dir + "/new").entries()[0].mode & 07777, 0755u);
    EXPECT_EQ(make_dir(dir + "/other/a", "daemon").entries()[0].owner, "daemon");
}

TEST_F(AgentFiles, TheKernelJudgesByTheUsersRights) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    put(dir + "/secret", "s");
    ::chmod((dir + "/secret").c_str(), 0600);
    fs::create_directory(dir + "/closed");
    for (const Heard* refused :
         {&read({.path = dir + "/secret", .user = "nobody"}),
          &write({.path = dir + "/secret", .user = "nobody"}, "x"),
          &write({.path = dir + "/closed/f", .user = "nobody"}, "x"), &make_dir(dir + "/closed/d", "nobody"),
          &remove(dir + "/closed", "nobody"), &move(dir + "/secret", dir + "/mine", "nobody")}) {
        EXPECT_EQ(refused->end->code, code_of(Errc::denied)) << refused->end->message;
    }
    EXPECT_EQ(content_of(dir + "/secret"), "s");
    EXPECT_EQ(read({.path = dir + "/secret"}).data[ChannelId::file], "s") << "and root is root again";
}

TEST_F(AgentFiles, OverwritingKeepsModeAndLinks) {
    put(dir + "/run.sh", std::string(50'000, '#'));
    ::chmod((dir + "/run.sh").c_str(), 0750);
    fs::create_symlink("run.sh", dir + "/link");
    EXPECT_EQ(write({.path = dir + "/run.sh"}, "short").end->code, 0u);
    EXPECT_EQ(content_of(dir + "/run.sh"), "short");
    EXPECT_EQ(write({.path = dir + "/link"}, "linked").end->code, 0u);
    EXPECT_TRUE(fs::is_symlink(dir + "/link"));
    EXPECT_EQ(content_of(dir + "/run.sh"), "linked");
    EXPECT_EQ(stat(dir + "/run.sh").entries()[0].mode & 07777, 0750u);
    EXPECT_EQ(write({.path = dir + "/run.sh", .append = true}, "+").end->code, 0u);
    EXPECT_EQ(content_of(dir + "/run.sh"), "linked+");
}

// The kernel takes the bit from a file that somebody else writes into, but not when root does the writing.
TEST_F(AgentFiles, WhatAUserAppendsToAProgramOfRootsTakesItsSetUserIdBit) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    put(dir + "/program", "#!");
    ::chmod((dir + "/program").c_str(), 04777);
    EXPECT_EQ(write({.path = dir + "/program", .user = "nobody", .append = true}, "x").end->code, 0u);
    EXPECT_EQ(stat(dir + "/program").entries()[0].mode & 07777, 0777u);
}

TEST_F(AgentFiles, AnInterruptedUploadLeavesNoNewFile) {
    put(dir + "/old", "old");
    const auto start = [&](const char* name) {
        wire::Request request;
        request.write_file = wire::WriteFile{.path = dir + name};
        const auto stream = host.open(request);
        host.send(FrameKind::data, stream, ChannelId::file, "half");
        host.send(FrameKind::cancel, stream);
        host.until_end(stream);
    };
    start("/new");
    start("/old");
    EXPECT_FALSE(fs::exists(dir + "/new"));
    EXPECT_EQ(content_of(dir + "/old"), "half");
}

TEST_F(AgentFiles, WritingWhereNoFileCanBeIsRefused) {
    put(dir + "/file", "");
    ::mkfifo((dir + "/fifo").c_str(), 0666);
    EXPECT_EQ(write({.path = dir}, "x").end->code, code_of(Errc::invalid_argument));
    EXPECT_EQ(write({.path = dir + "/fifo"}, "x").end->code, code_of(Errc::invalid_argument));
    EXPECT_EQ(write({.path = dir + "/file/x"}, "x").end->code, code_of(Errc::invalid_argument));
    EXPECT_EQ(write({.path = dir + "/file/x/y"}, "x").end->code, code_of(Errc::invalid_argument));
    EXPECT_EQ(write({.path = "/dev/full"}, "x").end->code, code_of(Errc::invalid_argument));
}

TEST_F(AgentFiles, AFullDiskSaysSoAndLeavesNoTornFile) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    const std::string small = dir + "/small";
    fs::create_directory(small);
    ASSERT_EQ(::mount("tmpfs", small.c_str(), "tmpfs", 0, "size=1m"), 0);
    const Heard& full = write({.path = small + "/f"}, std::string(3'000'000, 'x'));
    EXPECT_EQ(full.end->code, code_of(Errc::exhausted));
    EXPECT_NE(full.end->message.find("disk limit reached"), std::string::npos) << full.end->message;
    EXPECT_FALSE(fs::exists(small + "/f"));
    EXPECT_EQ(write({.path = small + "/f"}, "fits").end->code, 0u);
    ::umount2(small.c_str(), MNT_DETACH);
}

TEST_F(AgentFiles, MetadataIsReplacedAsAWhole) {
    const Heard& first = write({.path = dir + "/f", .metadata = {{"a", "1"}, {"b", "2"}}}, "x");
    if (first.end->code == code_of(Errc::unimplemented))
        GTEST_SKIP() << "no user attributes on this file system";
    EXPECT_EQ(stat(dir + "/f").entries()[0].metadata,
              (std::map<std::string, std::string>{{"a", "1"}, {"b", "2"}}));
    write({.path = dir + "/f", .metadata = {{"b", "3"}}}, "x");
    EXPECT_EQ(list(dir).entries()[0].metadata, (std::map<std::string, std::string>{{"b", "3"}}));
    write({.path = dir + "/f"}, "x");
    EXPECT_TRUE(stat(dir + "/f").entries()[0].metadata.empty());
}

}  // namespace
}  // namespace oyat::agent
