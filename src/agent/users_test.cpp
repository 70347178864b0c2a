#include "agent/users.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "agent/test_host.hpp"

namespace oyat::agent {
namespace {

using testing::RunningAgent;
using testing::TestHost;

// A user namespace of 65,536 ids, as a sandbox has it, whose passwd and group name others too. An agent that
// only asserted that it could become a user would be brought down by a line in a file.
class AgentInAUserNamespace : public ::testing::Test {
protected:
    void SetUp() override {
        if (::geteuid() != 0) GTEST_SKIP() << "needs root";
        std::filesystem::copy("/etc/passwd", files + "-passwd");
        std::filesystem::copy("/etc/group", files + "-group");
        std::ofstream{files + "-passwd", std::ios::app} << "far:x:123456:1::/:/bin/sh\n";
        std::ofstream{files + "-group", std::ios::app} << "odd:x:99999:daemon\nnear:x:3456:daemon\n";
        ASSERT_EQ(::pipe2(unshared.data(), O_CLOEXEC), 0);
        ASSERT_EQ(::pipe2(mapped.data(), O_CLOEXEC), 0);
        agent.emplace(RunningAgent::Cgroup::none,
                      RunningAgent::Surroundings{.in_child = [this] { enter_namespace(); },
                                                 .in_parent = [this](pid_t child) { map_ids(child); }});
        host.emplace(*agent);
    }
    void TearDown() override {
        std::filesystem::remove(files + "-passwd");
        std::filesystem::remove(files + "-group");
    }

    void enter_namespace() {
        char byte = 0;
        ::unshare(CLONE_NEWUSER | CLONE_NEWNS);
        if (::write(unshared[1], "u", 1) != 1 || ::read(mapped[0], &byte, 1) != 1) ::_exit(1);
        if (::setgid(0) != 0 || ::setuid(0) != 0) ::_exit(1);
        ::mount((files + "-passwd").c_str(), "/etc/passwd", nullptr, MS_BIND, nullptr);
        ::mount((files + "-group").c_str(), "/etc/group", nullptr, MS_BIND, nullptr);
    }
    void map_ids(pid_t child) {
        char byte = 0;
        ASSERT_EQ(::read(unshared[0], &byte, 1), 1);
        std::ofstream{"/proc/" + std::to_string(child) + "/uid_map"} << "0 0 65536";
        std::ofstream{"/proc/" + std::to_string(child) + "/gid_map"} << "0 0 65536";
        ASSERT_EQ(::write(mapped[1], "m", 1), 1);
    }

    std::string files = "/tmp/oyat-users-test-" + std::to_string(::getpid());
    std::array<int, 2> unshared{};
    std::array<int, 2> mapped{};
    std::optional<RunningAgent> agent;
    std::optional<TestHost> host;
};

TEST_F(AgentInAUserNamespace, AUserKeepsTheGroupsThatExist) {
    EXPECT_EQ(host->run({.argv = {"id", "-G"}, .user = "daemon"}).out(), "1 3456\n");
}

TEST_F(AgentInAUserNamespace, AUserOfAnIdThatDoesNotExistIsRefused) {
    EXPECT_EQ(host->run({.argv = {"id"}, .user = "far"}).end->message,
              "user 'far' has ids that do not exist here");
    wire::Request stat;
    stat.stat = wire::Stat{.path = "/", .user = "far"};
    EXPECT_NE(host->ask(stat).end->code, 0u);
    EXPECT_EQ(host->run({.argv = {"id", "-u"}}).out(), "0\n");
}

}  // namespace
}  // namespace oyat::agent
