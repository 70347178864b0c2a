#include <gtest/gtest.h>

#include "agent/test_process.hpp"

namespace oyat::agent {
namespace {

using testing::AgentProcess;

TEST_F(AgentProcess, AnIdleAgentIsSmall) {
    host.shell("head -c 20000000 /dev/zero");
    host.until([&] {
        host.step(20);
        return agent.rss_kib() < 1024;
    });
    EXPECT_LT(agent.rss_kib(), 1024u);
}

}  // namespace
}  // namespace oyat::agent
