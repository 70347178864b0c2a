#include "agent/process_stream.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <string>

#include "agent/test_process.hpp"

namespace oyat::agent {
namespace {

using testing::AgentProcess;
using testing::attach_request;
using testing::code_of;
using testing::shell_request;
using testing::signal_request;
using testing::spawn_request;
using testing::start;
using testing::TestHost;
using wire::ChannelId;
using wire::FrameKind;

TEST_F(AgentProcess, WithoutCreditAFloodStopsAtThePipe) {
    host.set_credit(TestHost::Credit::never);
    const auto stream = host.open(shell_request("yes"));
    host.until([&] { return host.heard(stream).bytes + 4096 > wire::kInitialWindow; });
    const auto rss = agent.rss_kib();
    for (int i = 0; i < 20; ++i) host.step(20);
    EXPECT_LE(host.heard(stream).bytes, wire::kInitialWindow);
    EXPECT_LT(agent.rss_kib(), rss + 512);
    host.credit(stream, 1000);
    const auto before = host.heard(stream).bytes;
    host.until([&] { return host.heard(stream).bytes == before + 1000; });
}

TEST_F(AgentProcess, OutputThatWasNotAcknowledgedComesAgain) {
    std::uint32_t pid = 0;
    {
        TestHost first{agent};
        first.set_credit(TestHost::Credit::never);
        const auto stream = first.open(shell_request("echo one; sleep 0.2; echo two; sleep 0.2; exit 4"));
        first.until([&] { return first.heard(stream).out() == "one\n"; });
        pid = start(first, stream);
    }
    TestHost second{agent};
    const auto stream = second.open(attach_request(pid));
    EXPECT_EQ(second.until_end(stream).out(), "one\ntwo\n");
    EXPECT_EQ(second.heard(stream).exited()->exit_code, 4);
    EXPECT_EQ(second.heard(stream).started()->dropped_out, 0u);
}

TEST_F(AgentProcess, OutputThatWasAcknowledgedDoesNotComeAgain) {
    std::uint32_t pid = 0;
    {
        TestHost first{agent};
        const auto stream = first.open(shell_request("echo one; sleep 0.3; echo two"));
        first.until([&] { return first.heard(stream).out() == "one\n"; });
        pid = start(first, stream);
        wire::Request list;
        list.list_processes.emplace();
        first.ask(list);  // the credit has arrived before this answer
    }
    TestHost second{agent};
    EXPECT_EQ(second.until_end(second.open(attach_request(pid))).out(), "two\n");
}

TEST_F(AgentProcess, WithNobodyAttachedTheLatestOutputIsKeptAndTheRestCounted) {
    const auto stream =
        host.open(shell_request("head -c 3000000 /dev/zero | tr '\\0' x; echo end; exec sleep 1007"));
    const auto pid = start(host, stream);
    host.send(FrameKind::cancel, stream);
    host.until_end(stream);
    const std::uint64_t seen = host.heard(stream).bytes;
    host.until([&] { return host.shell("cat /proc/" + std::to_string(pid) + "/comm").out() == "sleep\n"; });
    const auto again = host.open(attach_request(pid));
    host.until([&] { return host.heard(again).out().ends_with("end\n"); });
    const std::uint64_t dropped = host.heard(again).started()->dropped_out;
    EXPECT_LE(host.heard(again).out().size(), Process::kMaxKept);
    EXPECT_GE(seen + dropped + host.heard(again).out().size(), 3000004u);
    host.ask(signal_request(pid, SIGKILL));
    host.until_end(again);
}

TEST_F(AgentProcess, AnEndThatNobodyAcknowledgedCanBeFetched) {
    std::uint32_t pid = 0;
    {
        TestHost first{agent};
        first.set_credit(TestHost::Credit::never);
        const auto stream = first.open(shell_request("echo bye; exit 9"));
        pid = start(first, stream);
        first.until_end(stream);
    }
    TestHost second{agent};
    const auto stream = second.open(attach_request(pid));
    EXPECT_EQ(second.until_end(stream).out(), "bye\n");
    EXPECT_EQ(second.heard(stream).exited()->exit_code, 9);
    EXPECT_EQ(second.ask(attach_request(pid)).end->code, code_of(Errc::not_found));
}

TEST_F(AgentProcess, ASecondAttachTakesTheProcessOver) {
    const auto stream = host.open(spawn_request({.argv = {"/bin/cat"}, .stdin_open = true}));
    const auto second = host.open(attach_request(start(host, stream)));
    EXPECT_EQ(host.until_end(stream).end->code, code_of(Errc::canceled));
    host.send(FrameKind::data, second, ChannelId::stdin_, "hello\n");
    host.send(FrameKind::eof, second, ChannelId::stdin_);
    EXPECT_EQ(host.until_end(second).out(), "hello\n");
}

}  // namespace
}  // namespace oyat::agent
