#include "agent/command_group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "agent/test_process.hpp"

namespace oyat::agent {
namespace {

using testing::AgentProcess;
using testing::Heard;
using testing::signal_request;
using testing::spawn_request;

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

}  // namespace
}  // namespace oyat::agent
