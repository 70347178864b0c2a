#include "agent/process.hpp"

#include <gtest/gtest.h>

#include <string>

#include "agent/test_process.hpp"

namespace oyat::agent {
namespace {

using testing::AgentProcess;
using testing::alive;
using testing::Heard;
using testing::spawn_request;
using testing::until_gone;
using wire::ChannelId;
using wire::FrameKind;

TEST_F(AgentProcess, KeepsOutputAndErrorsApartAndReportsTheExitCode) {
    Heard& heard = host.shell("echo out; echo err >&2; exit 3");
    EXPECT_EQ(heard.out(), "out\n");
    EXPECT_EQ(heard.err(), "err\n");
    ASSERT_TRUE(heard.exited());
    EXPECT_EQ(heard.exited()->exit_code, 3);
    EXPECT_EQ(heard.exited()->signal, 0u);
    EXPECT_EQ(heard.end->code, 0u);
}

TEST_F(AgentProcess, ReportsTheSignalThatEndedIt) {
    Heard& heard = host.shell("kill -9 $$");
    ASSERT_TRUE(heard.exited());
    EXPECT_EQ(heard.exited()->signal, 9u);
    EXPECT_FALSE(heard.exited()->killed_by_api);
}

TEST_F(AgentProcess, WithoutInputAProgramSeesEndOfFile) {
    EXPECT_EQ(host.shell("cat | wc -c; read x || echo none").out(), "0\nnone\n");
}

TEST_F(AgentProcess, PassesInputAndItsEnd) {
    const auto stream = host.open(spawn_request({.argv = {"/bin/cat"}, .stdin_open = true}));
    host.send(FrameKind::data, stream, ChannelId::stdin_, "one\n");
    host.until([&] { return host.heard(stream).out() == "one\n"; });
    host.send(FrameKind::data, stream, ChannelId::stdin_, "two\n");
    host.send(FrameKind::eof, stream, ChannelId::stdin_);
    EXPECT_EQ(host.until_end(stream).out(), "one\ntwo\n");
    EXPECT_EQ(host.heard(stream).exited()->exit_code, 0);
}

TEST_F(AgentProcess, GivesCreditForInputOnlyAsItIsRead) {
    const auto stream = host.open(spawn_request({.argv = {"/bin/sleep", "1000"}, .stdin_open = true}));
    const std::string piece(64 * 1024, 'x');
    for (int i = 0; i < 4; ++i) host.send(FrameKind::data, stream, ChannelId::stdin_, piece);
    host.send(FrameKind::data, stream, ChannelId::stdin_, piece);  // one more than the pipe could take
    host.send(FrameKind::data, stream, ChannelId::stdin_, piece);
    EXPECT_TRUE(host.closed_within(5000)) << "a host that sends beyond its credit is hung up on";
}

TEST_F(AgentProcess, BothOutputsMayFillUpInAnyOrder) {
    Heard& heard =
        host.shell("head -c 4194304 /dev/zero >&2; head -c 4194304 /dev/zero; exec >&-; echo end >&2");
    EXPECT_EQ(heard.out().size(), 4u << 20);
    EXPECT_EQ(heard.err().size(), (4u << 20) + 4);
    EXPECT_EQ(heard.exited()->exit_code, 0);
}

TEST_F(AgentProcess, ADetachedJobNeitherHoldsTheStreamNorDiesWithIt) {
    Heard& heard = host.shell("setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $!");
    const auto pid = static_cast<std::uint32_t>(std::stoul(heard.out()));
    EXPECT_TRUE(alive(pid));
    host.shell("kill -9 " + std::to_string(pid));
    until_gone(host, pid);
}

TEST_F(AgentProcess, BuriesOrphans) {
    host.shell("for i in $(seq 200); do (sh -c 'sleep 0.01 &' &) ; done; sleep 0.3");
    const std::string zombies = "ps --ppid " + std::to_string(agent.pid()) + " -o stat= | grep -c Z";
    host.until([&] { return host.shell(zombies).out() == "0\n"; });
}

}  // namespace
}  // namespace oyat::agent
