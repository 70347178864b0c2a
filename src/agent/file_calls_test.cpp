#include "agent/file_calls.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "agent/test_files.hpp"

namespace oyat::agent {
namespace {

namespace fs = std::filesystem;
using testing::AgentFiles;
using testing::code_of;
using testing::put;
using wire::ChannelId;
using wire::FileType;

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

}  // namespace
}  // namespace oyat::agent
