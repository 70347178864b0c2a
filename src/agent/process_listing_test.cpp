#include "agent/process_listing.hpp"

#include <gtest/gtest.h>

#include <csignal>
#include <set>
#include <string>
#include <vector>

#include "agent/test_process.hpp"

namespace oyat::agent {
namespace {

using testing::AgentProcess;
using testing::code_of;
using testing::signal_request;
using testing::spawn_request;
using testing::start;
using testing::TestHost;

class ProcessesListed : public AgentProcess {
protected:
    // Each with as much text as a listing repeats.
    void run_sleepers(std::size_t count) {
        for (std::size_t i = 0; i < count; ++i) {
            pids.push_back(start(host, host.open(spawn_request({.argv = {"/bin/sleep", "1016"},
                                                                .env = {{"TEXT", std::string(15'000, 'x')}},
                                                                .tag = std::string(16'000, 't')}))));
        }
    }
    void TearDown() override {
        for (const std::uint32_t pid : pids) host.ask(signal_request(pid, SIGKILL));
    }
    static wire::Request list_request() {
        wire::Request request;
        request.list_processes.emplace();
        return request;
    }

    std::vector<std::uint32_t> pids;
};

TEST_F(ProcessesListed, AreAllThereHoweverManyEventsItTakes) {
    run_sleepers(30);
    std::set<std::uint32_t> listed;
    for (const std::string& event : host.ask(list_request()).events) {
        for (const auto& process : wire::decode<wire::ProcessList>(event)->processes) {
            EXPECT_EQ(process.tag.size(), 16'000u);
            EXPECT_TRUE(listed.insert(process.pid).second);
        }
    }
    EXPECT_EQ(listed, std::set<std::uint32_t>(pids.begin(), pids.end()));
}

TEST_F(ProcessesListed, AreNotHeldInMemoryForAHostThatDoesNotRead) {
    run_sleepers(60);
    host.set_credit(TestHost::Credit::never);
    const std::uint64_t before = agent.rss_kib();
    for (int i = 0; i < 40; ++i) host.open(list_request());
    EXPECT_EQ(host.shell("echo meanwhile").out(), "meanwhile\n");
    EXPECT_LT(agent.rss_kib(), before + 16 * 1024);  // 40 complete ones are 70 MiB
}

// With it no event about the process could be sent any more.
TEST_F(ProcessesListed, ATagThatNoListingHasRoomForIsRefused) {
    const auto& refused = host.run({.argv = {"true"}, .tag = std::string(250'000, 't')});
    EXPECT_EQ(refused.end->code, code_of(Errc::invalid_argument));
    EXPECT_EQ(refused.end->message, "tag is longer than 16384 bytes");
}

}  // namespace
}  // namespace oyat::agent
