#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "agent/test_host.hpp"
#include "base/defer.hpp"
#include "base/error.hpp"

namespace oyat::agent {
namespace {

namespace fs = std::filesystem;
using testing::Heard;
using testing::RunningAgent;
using testing::TestHost;
using wire::ChannelId;
using wire::FileType;
using wire::FrameKind;

constexpr std::uint32_t code_of(Errc code) {
    return static_cast<std::uint32_t>(code) + 1;
}

std::string content_of(const std::string& path) {
    std::ifstream file{path, std::ios::binary};
    return {std::istreambuf_iterator<char>{file}, {}};
}

void put(const std::string& path, std::string_view content) {
    std::ofstream{path, std::ios::binary} << content;
}

class AgentFiles : public ::testing::Test {
protected:
    AgentFiles() { ::chmod(dir.c_str(), 01777); }

    Heard& write(wire::WriteFile request, std::string_view content) {
        wire::Request whole;
        whole.write_file = std::move(request);
        const auto stream = host.open(whole);
        while (!content.empty()) {
            const std::string_view piece = content.substr(0, 32 * 1024);
            host.send(FrameKind::data, stream, ChannelId::file, piece);
            content.remove_prefix(piece.size());
        }
        host.send(FrameKind::eof, stream, ChannelId::file);
        return host.until_end(stream);
    }
    Heard& read(wire::ReadFile request) {
        wire::Request whole;
        whole.read_file = std::move(request);
        return host.ask(whole);
    }
    Heard& list(std::string path, std::uint32_t depth = 1, std::string user = {}) {
        wire::Request whole;
        whole.list_dir = wire::ListDir{.path = std::move(path), .user = std::move(user), .depth = depth};
        return host.ask(whole);
    }
    Heard& stat(std::string path, std::string user = {}) {
        wire::Request whole;
        whole.stat = wire::Stat{.path = std::move(path), .user = std::move(user)};
        return host.ask(whole);
    }
    Heard& move(std::string source, std::string destination, std::string user = {}) {
        wire::Request whole;
        whole.move = wire::Move{
            .source = std::move(source), .destination = std::move(destination), .user = std::move(user)};
        return host.ask(whole);
    }
    Heard& remove(std::string path, std::string user = {}, bool must_exist = false) {
        wire::Request whole;
        whole.remove =
            wire::Remove{.path = std::move(path), .user = std::move(user), .must_exist = must_exist};
        return host.ask(whole);
    }
    Heard& make_dir(std::string path, std::string user = {}) {
        wire::Request whole;
        whole.make_dir = wire::MakeDir{.path = std::move(path), .user = std::move(user)};
        return host.ask(whole);
    }
    std::vector<std::string> names_below(const Heard& heard, const std::string& root) {
        std::vector<std::string> names;
        for (const auto& entry : heard.entries()) names.push_back(entry.path.substr(root.size() + 1));
        return names;
    }

    RunningAgent agent;
    TestHost host{agent};
    std::string dir = agent.directory();
};

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

TEST_F(AgentFiles, DescribesLinksAndTheirTargets) {
    put(dir + "/target", "12345");
    ::chmod((dir + "/target").c_str(), 0640);
    fs::create_symlink("target", dir + "/good");
    fs::create_symlink("nowhere", dir + "/dangling");
    const auto good = stat(dir + "/good").entries().at(0);
    EXPECT_EQ(good.type, FileType::symlink);
    EXPECT_EQ(good.target_type, FileType::file);
    EXPECT_EQ(good.target_mode & 07777, 0640u);
    EXPECT_EQ(good.link_target, fs::canonical(dir + "/target").string());
    const auto dangling = stat(dir + "/dangling").entries().at(0);
    EXPECT_EQ(dangling.type, FileType::symlink);
    EXPECT_EQ(dangling.target_type, FileType::unknown);
    EXPECT_EQ(dangling.link_target, "nowhere");
}

TEST_F(AgentFiles, ListsDepthFirstInByteOrder) {
    fs::create_directories(dir + "/l/b/c/d");
    put(dir + "/l/a", "");
    put(dir + "/l/b/x", "");
    put(dir + "/l/Z", "");
    fs::create_symlink(dir + "/l", dir + "/start");
    fs::create_symlink("b", dir + "/l/to-b");
    const std::string root = dir + "/l";
    using Names = std::vector<std::string>;
    EXPECT_EQ(names_below(list(root), root), (Names{"Z", "a", "b", "to-b"}));
    EXPECT_EQ(names_below(list(root, 0), root), (Names{"Z", "a", "b", "to-b"}));
    EXPECT_EQ(names_below(list(root, 2), root), (Names{"Z", "a", "b", "b/c", "b/x", "to-b"}));
    EXPECT_EQ(names_below(list(root, 9), root), (Names{"Z", "a", "b", "b/c", "b/c/d", "b/x", "to-b"}));
    EXPECT_EQ(names_below(list(dir + "/start"), dir + "/start"), (Names{"Z", "a", "b", "to-b"}));
    EXPECT_TRUE(list(root + "/b/c/d").entries().empty());
    EXPECT_EQ(list(root + "/a").end->code, code_of(Errc::invalid_argument));
    EXPECT_EQ(list(root + "/a/b").end->code, code_of(Errc::not_found));
    EXPECT_EQ(list(root + "/none").end->code, code_of(Errc::not_found));
}

TEST_F(AgentFiles, CommandsAnswerWhileAHundredThousandFilesAreListedAndRemoved) {
    constexpr std::size_t kFiles = 100'000;
    // In memory: how fast a disk makes files is not what this is about.
    const std::string big = "/dev/shm/" + fs::path{dir}.filename().string();
    fs::create_directory(big);
    const Defer clean_up{[&] { fs::remove_all(big); }};
    for (std::size_t i = 0; i < kFiles; ++i)
        ::close(::open((big + "/f" + std::to_string(i)).c_str(), O_CREAT, 0600));
    const auto worst_of = [&](wire::Request request) {
        const auto stream = host.open(request);
        std::chrono::steady_clock::duration worst{};
        do {
            const auto from = std::chrono::steady_clock::now();
            host.shell("true");
            worst = std::max(worst, std::chrono::steady_clock::now() - from);
        } while (!host.heard(stream).end);
        EXPECT_EQ(host.heard(stream).end->code, 0u);
        return std::pair{stream, worst};
    };
    wire::Request listing;
    listing.list_dir = wire::ListDir{.path = big};
    const auto [stream, list_worst] = worst_of(listing);
    std::set<std::string> names;
    std::string last;
    for (const auto& entry : host.heard(stream).entries()) {
        EXPECT_LT(last, entry.path);
        last = entry.path;
        names.insert(entry.path);
    }
    EXPECT_EQ(names.size(), kFiles);
    EXPECT_LT(list_worst, std::chrono::seconds{2});
    wire::Request removal;
    removal.remove = wire::Remove{.path = big};
    EXPECT_LT(worst_of(removal).second, std::chrono::seconds{2});
    EXPECT_FALSE(fs::exists(big));
}

TEST_F(AgentFiles, AwkwardNamesStayAsTheyAre) {
    for (const std::string& name :
         {std::string{"a b"}, std::string{" lead"}, std::string{"-rf"}, std::string{"per%2Fcent%"},
          std::string{"new\nline"}, std::string{"..."}, std::string{"..dots"}, std::string{"~tilde"},
          std::string{"*"}, std::string{"back\\slash"}, std::string{"\xFF\xFE not utf-8"},
          std::string{"\x1b[31m"}, std::string(255, 'x')}) {
        const std::string path = dir + "/n/" + name;
        EXPECT_EQ(write({.path = path}, name).end->code, 0u) << name;
        EXPECT_EQ(read({.path = path}).data[ChannelId::file], name);
        EXPECT_EQ(list(dir + "/n").entries().at(0).path, path);
        EXPECT_EQ(move(path, dir + "/m/" + name).entries().at(0).path, dir + "/m/" + name);
        EXPECT_EQ(remove(dir + "/m/" + name, "", true).end->code, 0u);
    }
    EXPECT_EQ(write({.path = dir + "/n/" + std::string(256, 'x')}, "").end->code,
              code_of(Errc::invalid_argument));
    EXPECT_EQ(write({.path = dir + std::string("/n/a\0b", 6)}, "").end->code,
              code_of(Errc::invalid_argument));
    EXPECT_FALSE(fs::exists(dir + "/n/a"));
}

TEST_F(AgentFiles, RelativePathsStandUnderTheHome) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    EXPECT_EQ(stat("", "daemon").entries().at(0).path, "/usr/sbin");
    EXPECT_EQ(stat("~", "daemon").entries().at(0).path, "/usr/sbin");
    EXPECT_EQ(stat("~/../bin/./env", "daemon").entries().at(0).path, "/usr/bin/env");
    EXPECT_EQ(stat("../bin//env", "daemon").entries().at(0).path, "/usr/bin/env");
}

TEST_F(AgentFiles, MakesDirectoriesOnce) {
    EXPECT_EQ(make_dir(dir + "/a/b").end->code, 0u);
    EXPECT_EQ(make_dir(dir + "/a/b").end->code, code_of(Errc::already_exists));
    EXPECT_EQ(make_dir("/").end->code, code_of(Errc::already_exists));
    put(dir + "/f", "");
    EXPECT_EQ(make_dir(dir + "/f").end->code, code_of(Errc::invalid_argument));
}

TEST_F(AgentFiles, RemovesTreesAndDoesNotMindTheAbsent) {
    fs::create_directories(dir + "/t/a/b/c");
    put(dir + "/t/a/f", "");
    put(dir + "/kept", "k");
    fs::create_symlink(dir + "/kept", dir + "/t/link");
    fs::create_directory_symlink(dir, dir + "/t/updir");
    EXPECT_EQ(remove(dir + "/t").end->code, 0u);
    EXPECT_FALSE(fs::exists(dir + "/t"));
    EXPECT_EQ(content_of(dir + "/kept"), "k");
    EXPECT_EQ(remove(dir + "/t").end->code, 0u);
    EXPECT_EQ(remove(dir + "/t/deeper").end->code, 0u);
    EXPECT_EQ(remove(dir + "/t", "", true).end->code, code_of(Errc::not_found));
    EXPECT_EQ(remove("/").end->code, code_of(Errc::invalid_argument));
}

TEST_F(AgentFiles, MovesAndMakesTheParents) {
    put(dir + "/f", "x");
    EXPECT_EQ(move(dir + "/f", dir + "/a/b/g").entries().at(0).path, dir + "/a/b/g");
    EXPECT_EQ(content_of(dir + "/a/b/g"), "x");
    EXPECT_EQ(move(dir + "/none", dir + "/q/x").end->code, code_of(Errc::not_found));
    EXPECT_FALSE(fs::exists(dir + "/q"));
    EXPECT_EQ(move(dir + "/a", dir + "/a/b/a").end->code, code_of(Errc::invalid_argument));
}

// What rename(2) refuses: other file systems, and directories of an overlay's lower layers.
TEST_F(AgentFiles, MovesAcrossFileSystems) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    const std::string other = dir + "/other";
    fs::create_directory(other);
    ASSERT_EQ(::mount("tmpfs", other.c_str(), "tmpfs", 0, "size=8m"), 0);
    fs::create_directories(dir + "/tree/sub/empty");
    put(dir + "/tree/sub/f", std::string(300'000, 'y'));
    ::chmod((dir + "/tree/sub/f").c_str(), 0751);
    ::chmod((dir + "/tree/sub").c_str(), 0700);
    fs::create_symlink("sub/f", dir + "/tree/link");
    EXPECT_EQ(move(dir + "/tree", other + "/moved").end->code, 0u);
    EXPECT_FALSE(fs::exists(dir + "/tree"));
    EXPECT_EQ(content_of(other + "/moved/link"), std::string(300'000, 'y'));
    EXPECT_EQ(stat(other + "/moved/sub/f").entries().at(0).mode & 07777, 0751u);
    EXPECT_EQ(stat(other + "/moved/sub").entries().at(0).mode & 07777, 0700u);
    EXPECT_TRUE(fs::is_directory(other + "/moved/sub/empty"));
    // One that does not fit leaves the original and no half of a copy.
    put(dir + "/huge", std::string(9'000'000, 'z'));
    EXPECT_EQ(move(dir + "/huge", other + "/huge").end->code, code_of(Errc::exhausted));
    EXPECT_EQ(fs::file_size(dir + "/huge"), 9'000'000u);
    EXPECT_EQ(names_below(list(other), other), std::vector<std::string>{"moved"});
    ::umount2(other.c_str(), MNT_DETACH);
}

TEST_F(AgentFiles, ComposesAndRemovesTheSources) {
    put(dir + "/1", "one");
    put(dir + "/2", "two");
    put(dir + "/whole", "before");
    ::chmod((dir + "/whole").c_str(), 0604);
    wire::Request compose;
    compose.compose = wire::Compose{.sources = {dir + "/1", dir + "/2"}, .destination = dir + "/whole"};
    EXPECT_EQ(host.ask(compose).end->code, 0u);
    EXPECT_EQ(content_of(dir + "/whole"), "onetwo");
    EXPECT_EQ(stat(dir + "/whole").entries().at(0).mode & 07777, 0604u);
    EXPECT_FALSE(fs::exists(dir + "/1"));
    put(dir + "/3", "three");
    compose.compose = wire::Compose{.sources = {dir + "/whole", dir + "/3"}, .destination = dir + "/whole"};
    EXPECT_EQ(host.ask(compose).end->code, 0u);
    EXPECT_EQ(content_of(dir + "/whole"), "onetwothree");
    compose.compose = wire::Compose{.sources = {dir + "/whole", dir + "/none"}, .destination = dir + "/new"};
    EXPECT_EQ(host.ask(compose).end->code, code_of(Errc::not_found));
    EXPECT_EQ(content_of(dir + "/whole"), "onetwothree");
    EXPECT_FALSE(fs::exists(dir + "/new"));
}

TEST_F(AgentFiles, ChangesModeAndOwner) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    put(dir + "/f", "");
    wire::Request chmod;
    chmod.chmod = wire::Chmod{.path = dir + "/f", .mode = 0600, .owner = "daemon", .group = "12345"};
    const auto entry = host.ask(chmod).entries().at(0);
    EXPECT_EQ(entry.mode & 07777, 0600u);
    EXPECT_EQ(entry.owner, "daemon");
    EXPECT_EQ(entry.gid, 12345u);
    EXPECT_EQ(entry.group, "12345");
    chmod.chmod = wire::Chmod{.path = dir + "/f", .user = "nobody", .mode = 0666};
    EXPECT_EQ(host.ask(chmod).end->code, code_of(Errc::denied));
}

TEST_F(AgentFiles, TellsWhoAUserIsAndHowFullTheDiskIs) {
    wire::Request request;
    request.resolve_user = wire::ResolveUser{.user = "daemon"};
    const auto user = wire::decode<wire::UserInfo>(host.ask(request).events.at(0));
    EXPECT_EQ(user->uid, 1u);
    EXPECT_EQ(user->home, "/usr/sbin");
    request.resolve_user = wire::ResolveUser{.user = "no-such-user"};
    EXPECT_EQ(host.ask(request).end->code, code_of(Errc::not_found));
    wire::Request disk;
    disk.disk_use.emplace();
    const auto use = wire::decode<wire::DiskUse>(host.ask(disk).events.at(0));
    EXPECT_GT(use->used, 0u);
    EXPECT_GT(use->total, use->used);
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

}  // namespace
}  // namespace oyat::agent
