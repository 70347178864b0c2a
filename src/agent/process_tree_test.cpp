#include "agent/process_tree.hpp"

#include <gtest/gtest.h>
#include <linux/sched.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>

#include "agent/test_process.hpp"

namespace oyat::agent {
namespace {

using testing::AgentProcess;
using testing::alive;
using testing::code_of;
using testing::Heard;
using testing::RunningAgent;
using testing::shell_request;
using testing::signal_request;
using testing::spawn_request;
using testing::start;
using testing::TestHost;
using testing::until_gone;

TEST_F(AgentProcess, KillReachesTheWholeTreeAndEndsTheStream) {
    const auto stream = host.open(
        shell_request("sleep 1001 & echo $!; setsid sh -c 'sleep 1002 & echo $!; sleep 1003' & wait"));
    host.until([&] { return std::ranges::count(host.heard(stream).out(), '\n') == 2; });
    const std::string out = host.heard(stream).out();
    const auto child = static_cast<std::uint32_t>(std::stoul(out));
    const auto grandchild = static_cast<std::uint32_t>(std::stoul(out.substr(out.find('\n') + 1)));
    ASSERT_TRUE(alive(child) && alive(grandchild));
    const auto pid = start(host, stream);
    EXPECT_EQ(host.ask(signal_request(pid, SIGKILL)).end->code, 0u);
    Heard& heard = host.until_end(stream);
    EXPECT_EQ(heard.exited()->signal, 9u);
    EXPECT_TRUE(heard.exited()->killed_by_api);
    until_gone(host, child);
    until_gone(host, grandchild);
    EXPECT_EQ(host.ask(signal_request(pid, SIGKILL)).end->code, code_of(Errc::not_found));
}

TEST_F(AgentProcess, ASignalWithoutTreeReachesTheLeaderOnly) {
    const auto stream = host.open(shell_request("sleep 1004 & echo $!; wait"));
    host.until([&] { return !host.heard(stream).out().empty(); });
    const auto child = static_cast<std::uint32_t>(std::stoul(host.heard(stream).out()));
    const auto pid = start(host, stream);
    host.ask(signal_request(pid, SIGTERM, false));
    until_gone(host, pid);
    EXPECT_TRUE(alive(child));
    EXPECT_FALSE(host.heard(stream).end) << "the child still holds the outputs";
    EXPECT_EQ(host.ask(signal_request(pid, SIGKILL, true)).end->code, 0u);
    EXPECT_EQ(host.until_end(stream).exited()->signal, static_cast<std::uint32_t>(SIGTERM));
    until_gone(host, child);
}

TEST_F(AgentProcess, WallTimeEndsTheWholeTree) {
    const auto stream = host.open(spawn_request(
        {.argv = {"/bin/sh", "-c", "setsid sleep 1005 & echo $!; sleep 1006"}, .wall_ms = 200}));
    Heard& heard = host.until_end(stream);
    EXPECT_TRUE(heard.exited()->timed_out);
    EXPECT_EQ(heard.exited()->signal, 9u);
    until_gone(host, static_cast<std::uint32_t>(std::stoul(heard.out())));
}

TEST(AgentWithoutCgroup, StillFindsTheTreeOfACommand) {
    RunningAgent agent{RunningAgent::Cgroup::none};
    TestHost host{agent};
    const auto stream = host.open(spawn_request(
        {.argv = {"/bin/sh", "-c", "setsid sh -c 'sleep 1010 & echo $!; wait' & wait"}, .wall_ms = 300}));
    Heard& heard = host.until_end(stream);
    EXPECT_TRUE(heard.exited()->timed_out);
    until_gone(host, static_cast<std::uint32_t>(std::stoul(heard.out())));
}

// A process with exactly this number, or -1 while it is taken. It sleeps until it is killed.
pid_t make_process(pid_t number) {
    clone_args arguments{};
    arguments.exit_signal = SIGCHLD;
    arguments.set_tid = reinterpret_cast<std::uintptr_t>(&number);
    arguments.set_tid_size = 1;
    const auto pid = static_cast<pid_t>(::syscall(SYS_clone3, &arguments, sizeof arguments));
    if (pid == 0) {
        ::setsid();
        while (true) ::pause();
    }
    return pid;
}

TEST(AgentWithoutCgroup, LeavesTheOneAloneWhoHasGotTheNumberOfABuriedLeader) {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root";
    RunningAgent agent{RunningAgent::Cgroup::none};
    TestHost host{agent};
    const auto stream = host.open(shell_request("setsid sleep 1014 & echo $!"));
    host.until([&] { return !host.heard(stream).out().empty(); });
    const auto daemon = static_cast<std::uint32_t>(std::stoul(host.heard(stream).out()));
    const auto leader = start(host, stream);
    // Once the daemon has left its session the number is free.
    pid_t stranger = -1;
    host.until([&] {
        host.step(5);
        stranger = make_process(static_cast<pid_t>(leader));
        return stranger > 0;
    });
    EXPECT_EQ(host.ask(signal_request(leader, SIGKILL)).end->code, 0u);
    host.until_end(stream);
    EXPECT_TRUE(alive(leader));
    ::kill(stranger, SIGKILL);
    ::waitpid(stranger, nullptr, 0);
    ::kill(static_cast<pid_t>(daemon), SIGKILL);
}

}  // namespace
}  // namespace oyat::agent
