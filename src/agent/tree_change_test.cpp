#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "agent/test_files.hpp"

namespace oyat::agent {
namespace {

namespace fs = std::filesystem;
using testing::AgentFiles;
using testing::code_of;
using testing::content_of;
using testing::put;

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

}  // namespace
}  // namespace oyat::agent
