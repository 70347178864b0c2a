#include <gtest/gtest.h>

#include <random>

#include "agent/test_host.hpp"

namespace oyat::agent {
namespace {

using testing::RunningAgent;
using testing::TestHost;
using wire::ChannelId;
using wire::FrameKind;

// A host that lost its mind must not take the sandbox along: whatever it says, the agent lives and serves the
// next.
TEST(AgentAndAHostileHost, RandomBytesDoNotHarmIt) {
    RunningAgent agent;
    std::mt19937 random{20260101};
    for (int round = 0; round < 200; ++round) {
        TestHost host{agent};
        std::string bytes(random() % 3000, '\0');
        for (char& byte : bytes) byte = static_cast<char>(random());
        host.send_raw(bytes);
        host.step(0);
    }
    EXPECT_EQ(TestHost{agent}.shell("echo alive").out(), "alive\n");
}

TEST(AgentAndAHostileHost, RandomButWellFormedFramesDoNotHarmIt) {
    RunningAgent agent;
    std::mt19937 random{20260102};
    wire::Request seeds[5];
    seeds[0].spawn = wire::Spawn{.argv = {"/bin/true"}};
    seeds[1].list_dir = wire::ListDir{.path = agent.directory(), .depth = 3};
    seeds[2].watch = wire::Watch{.path = agent.directory(), .recursive = true};
    seeds[3].write_file = wire::WriteFile{.path = agent.directory() + "/f"};
    seeds[4].list_processes.emplace();
    for (int round = 0; round < 100; ++round) {
        TestHost host{agent};
        std::uint32_t stream = 0;
        for (int i = 0; i < 50; ++i) {
            const auto kind = static_cast<FrameKind>(1 + random() % 6);
            const auto channel = static_cast<ChannelId>(random() % 6);
            std::string payload(random() % 64, '\0');
            for (char& byte : payload) byte = static_cast<char>(random());
            if (kind == FrameKind::request) payload = wire::encode(seeds[random() % 5]);
            if (kind == FrameKind::request && random() % 4 == 0)
                payload[random() % payload.size()] ^= 1 << random() % 8;
            if (kind == FrameKind::credit) payload = wire::credit_payload(random() % 100);
            if (kind == FrameKind::request) ++stream;
            host.send(kind, kind == FrameKind::request ? stream : random() % (stream + 1), channel, payload);
        }
        host.step(0);
    }
    EXPECT_EQ(TestHost{agent}.shell("echo alive").out(), "alive\n");
}

TEST(AgentAndAHostileHost, MoreThan4096StreamsAreRefusedOneByOne) {
    RunningAgent agent;
    TestHost host{agent};
    host.set_credit(TestHost::Credit::never);
    wire::Request upload;
    for (int i = 0; i < 4096; ++i) {
        upload.write_file = wire::WriteFile{.path = agent.directory() + "/f"};
        host.open(upload);
        host.step(0);
    }
    const auto& refused = host.ask(upload);
    EXPECT_EQ(refused.end->message, "more than 4096 streams are open");
}

TEST(AgentAndAHostileHost, AFloodOfPingsWithoutReadingIsHeldBack) {
    RunningAgent agent;
    TestHost host{agent};
    std::string pings;
    for (int i = 0; i < 1000; ++i) wire::append_frame(pings, FrameKind::ping, 0, ChannelId::none, "12345678");
    // As many as the sockets and the agent's own bound take; then it reads no more.
    host.send_until_blocked(pings, 64 * 1024 * 1024);
    EXPECT_LT(agent.rss_kib(), 4096u);
}

}  // namespace
}  // namespace oyat::agent
