#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "agent/test_process.hpp"

// Every sandbox has an agent, and most of them have nothing to do: then it takes at most 1 MiB of memory.
namespace oyat::agent {
namespace {

using testing::AgentProcess;
using testing::spawn_request;
using testing::start;
using wire::ChannelId;
using wire::FrameKind;

class AgentWhenIdle : public AgentProcess {
protected:
    void expect_small() {
        host.until([&] {
            host.step(20);
            return agent.rss_kib() <= 1024;
        });
        EXPECT_LE(agent.rss_kib(), 1024u);
    }
};

TEST_F(AgentWhenIdle, IsSmallAfterMuchOutput) {
    host.shell("head -c 20000000 /dev/zero");
    expect_small();
}

// What the allocator keeps of hundreds of requests of all sizes goes back, too.
TEST_F(AgentWhenIdle, IsSmallAfterManyCommandsAtOnce) {
    std::vector<std::uint32_t> streams;
    for (std::size_t i = 0; i < 300; ++i) {
        streams.push_back(host.open(
            spawn_request({.argv = {"/bin/sh", "-c", "echo " + std::string(50 + i * 7 % 900, 'x') + "; cat"},
                           .env = {{"A" + std::to_string(i), std::string(i * 37 % 3000, 'y')}},
                           .stdin_open = true,
                           .tag = std::string(i % 64, 't')})));
    }
    for (const std::uint32_t stream : streams) start(host, stream);
    for (const std::uint32_t stream : streams) host.send(FrameKind::eof, stream, ChannelId::stdin_);
    for (const std::uint32_t stream : streams) host.until_end(stream);
    expect_small();
}

}  // namespace
}  // namespace oyat::agent
