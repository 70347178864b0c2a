#include "agent/command_group.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>

#include "agent/test_process.hpp"
#include "base/defer.hpp"

namespace oyat::agent {
namespace {

using testing::AgentProcess;
using testing::alive;
using testing::Heard;
using testing::signal_request;
using testing::spawn_request;
using testing::start;
using testing::TestHost;
using wire::ChannelId;
using wire::FrameKind;

TEST_F(AgentProcess, TakesTheGroupsOfEndedCommandsAway) {
    if (agent.cgroup().empty()) GTEST_SKIP() << "no cgroup v2 here";
    Heard& heard = host.shell("setsid sleep 1011 </dev/null >/dev/null 2>&1 & echo $!");
    for (int i = 0; i < 5; ++i) host.shell("true");
    const auto groups = [&] {
        return std::ranges::count_if(std::filesystem::directory_iterator{agent.cgroup()},
                                     [](const auto& entry) { return entry.is_directory(); });
    };
    // One more is kept for the next command.
    host.until([&] {
        host.step(5);
        return groups() == 2;
    });
    host.shell("kill -9 " + heard.out());
    host.until([&] {
        host.step(5);
        return groups() == 1;
    });
    EXPECT_GT(host.shell("i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done").exited()->tree_cpu_us, 1000u);
    EXPECT_LT(host.shell("true").exited()->tree_cpu_us, 100'000u) << "the work of an earlier command";
}

TEST_F(AgentProcess, ACommandAfterAKilledOneIsItsOwn) {
    const auto stream = host.open(spawn_request({.argv = {"/bin/sleep", "1012"}}));
    host.until([&] { return host.heard(stream).started().has_value(); });
    host.ask(signal_request(host.heard(stream).started()->pid, SIGKILL));
    EXPECT_EQ(host.until_end(stream).exited()->signal, static_cast<std::uint32_t>(SIGKILL));
    for (int i = 0; i < 3; ++i) EXPECT_EQ(host.shell("sleep 0.01; echo fine").out(), "fine\n");
}

// The one group that is there once a command has ended, for the next one.
class SpareGroup : public AgentProcess {
protected:
    void SetUp() override {
        if (agent.cgroup().empty()) GTEST_SKIP() << "no cgroup v2 here";
        group = agent.cgroup() + "/c1";
        stream = host.open(spawn_request({.argv = {"/bin/cat"}, .stdin_open = true}));
        start(host, stream);
    }
    // The credit for the end has arrived before the first answer, and that turn of the loop is over before
    // the second.
    void let_it_retire() {
        wire::Request list;
        list.list_processes.emplace();
        for (int i = 0; i < 2; ++i) host.ask(list);
    }
    // What the next command's group is called.
    std::string next_group() {
        host.send(FrameKind::eof, stream, ChannelId::stdin_);
        host.until_end(stream);
        let_it_retire();
        const std::string line = host.shell("grep ^0:: /proc/self/cgroup").out();
        return line.substr(line.rfind('/') + 1);
    }

    std::string group;
    std::uint32_t stream = 0;
};

TEST_F(SpareGroup, IsTheOneOfTheCommandBefore) {
    EXPECT_EQ(next_group(), "c1\n");
}

TEST_F(SpareGroup, IsNoneWithGroupsBelowIt) {
    std::filesystem::create_directory(group + "/below");
    const Defer clean_up{[&] { ::rmdir((group + "/below").c_str()); }};
    EXPECT_NE(next_group(), "c1\n");
}

TEST_F(SpareGroup, IsNoneThatIsFrozen) {
    // Once its last process is gone; a frozen one would never end.
    host.send(FrameKind::eof, stream, ChannelId::stdin_);
    host.set_credit(TestHost::Credit::never);
    host.until([&] { return host.heard(stream).exited().has_value(); });
    std::ofstream{group + "/cgroup.freeze"} << "1" << std::flush;
    host.set_credit(TestHost::Credit::at_once);
    host.credit(stream, static_cast<std::uint32_t>(host.heard(stream).events.back().size()));
    let_it_retire();
    EXPECT_EQ(host.shell("echo runs").out(), "runs\n");
}

// With no descriptor left to look into it the group is not taken for an empty one.
TEST_F(SpareGroup, IsNoneWhoseProcessesCannotBeSeen) {
    const auto daemon = host.open(spawn_request(
        {.argv = {"/bin/sh", "-c", "setsid sleep 1013 </dev/null >/dev/null 2>&1 & echo $!; cat"},
         .stdin_open = true}));
    host.until([&] { return host.heard(daemon).out().ends_with("\n"); });
    const auto pid = static_cast<std::uint32_t>(std::stoul(host.heard(daemon).out()));
    rlimit before{};
    rlimit none{};
    ::prlimit(agent.pid(), RLIMIT_NOFILE, nullptr, &before);
    none.rlim_max = before.rlim_max;
    ::prlimit(agent.pid(), RLIMIT_NOFILE, &none, nullptr);
    host.send(FrameKind::eof, daemon, ChannelId::stdin_);
    host.until_end(daemon);
    let_it_retire();
    ::prlimit(agent.pid(), RLIMIT_NOFILE, &before, nullptr);
    EXPECT_NE(host.shell("grep -o c[0-9]*$ /proc/self/cgroup").out(), "c2\n");
    EXPECT_TRUE(alive(pid));
    host.shell("kill -9 " + std::to_string(pid));
}

}  // namespace
}  // namespace oyat::agent
