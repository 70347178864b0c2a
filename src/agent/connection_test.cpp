#include "agent/connection.hpp"

#include <gtest/gtest.h>

#include <string>

#include "agent/test_process.hpp"

namespace oyat::agent {
namespace {

using testing::AgentProcess;
using testing::code_of;
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
