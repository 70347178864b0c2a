#include "agent/connection.hpp"

#include <gtest/gtest.h>

#include <string>

#include "agent/test_process.hpp"

namespace oyat::agent {
namespace {

using testing::AgentProcess;
using testing::attach_request;
using testing::code_of;
using testing::spawn_request;
using testing::start;
using testing::TestHost;
using wire::ChannelId;
using wire::FrameKind;

TEST_F(AgentProcess, GreetsWithItsGeneration) {
    EXPECT_EQ(host.hello().magic, wire::kAgentMagic);
    EXPECT_EQ(host.hello().version, wire::kAgentVersion);
    EXPECT_EQ(host.hello().generation, 7u);
    EXPECT_FALSE(host.hello().configured);
}

TEST_F(AgentProcess, TheNewestHostReplacesTheOlder) {
    TestHost second{agent};
    EXPECT_TRUE(host.closed_within(5000));
    EXPECT_EQ(second.shell("echo here").out(), "here\n");
}

TEST_F(AgentProcess, AnswersEachKnockWithAHello) {
    host.send(FrameKind::knock, 0, ChannelId::none, wire::u64_payload(4711));
    host.until([&] { return host.hello().echo == 4711; });
    EXPECT_EQ(host.hello().generation, 7u);
    EXPECT_EQ(host.shell("echo here").out(), "here\n");
}

// As on the port of a virtual machine, where one host follows another on the same stream.
TEST_F(AgentProcess, AKnockStartsTheConnectionOver) {
    const auto first = host.open(spawn_request({.argv = {"/bin/cat"}, .stdin_open = true}));
    const std::uint32_t pid = start(host, first);
    host.send(FrameKind::knock, 0, ChannelId::none, wire::u64_payload(1));
    host.until([&] { return host.hello().echo == 1; });
    const std::uint32_t lower = 1;  // ids begin anew
    host.send(FrameKind::request, lower + 4, ChannelId::none, wire::encode(attach_request(pid)));
    host.send(FrameKind::data, lower + 4, ChannelId::stdin_, "still there\n");
    host.send(FrameKind::eof, lower + 4, ChannelId::stdin_);
    EXPECT_EQ(host.until_end(lower + 4).out(), "still there\n");
    EXPECT_FALSE(host.heard(first).end) << "its stream is gone, not ended";
}

TEST_F(AgentProcess, HangsUpOnAHostThatStopsInTheMiddleOfAFrame) {
    host.send_raw(std::string_view{"\x08\x00\x00", 3});
    EXPECT_TRUE(host.closed_within(15'000));
}

TEST_F(AgentProcess, HangsUpOnAHostThatBreaksTheProtocol) {
    const auto broken = [&](std::string_view bytes) {
        TestHost bad{agent};
        bad.send_raw(bytes);
        return bad.closed_within(5000);
    };
    std::string never_opened;
    wire::append_frame(never_opened, FrameKind::data, 5, ChannelId::stdin_, "x");
    std::string agent_kind;
    wire::append_frame(agent_kind, FrameKind::hello, 0, ChannelId::none, "");
    std::string bad_ping;
    wire::append_frame(bad_ping, FrameKind::ping, 0, ChannelId::none, "123");
    std::string twice;
    wire::append_frame(twice, FrameKind::request, 1, ChannelId::none, "");
    wire::append_frame(twice, FrameKind::request, 1, ChannelId::none, "");
    EXPECT_TRUE(broken(never_opened));
    EXPECT_TRUE(broken(agent_kind));
    EXPECT_TRUE(broken(bad_ping));
    EXPECT_TRUE(broken(twice));
    EXPECT_TRUE(broken(std::string(wire::kHeaderSize, '\xFF')));
    EXPECT_EQ(TestHost{agent}.shell("echo alive").out(), "alive\n");
}

TEST_F(AgentProcess, AnswersRequestsThatItCannotRead) {
    const std::uint32_t bad = 100;
    host.send(FrameKind::request, bad, ChannelId::none, "\xFF\xFF");
    EXPECT_EQ(host.until_end(bad).end->code, code_of(Errc::invalid_argument));
    host.send(FrameKind::request, bad + 1, ChannelId::none, "");
    EXPECT_EQ(host.until_end(bad + 1).end->code, code_of(Errc::unimplemented));
}

}  // namespace
}  // namespace oyat::agent
