#pragma once

#include <gtest/gtest.h>

#include "io/loop.hpp"
#include "io/race.hpp"
#include "io/timer.hpp"
#include "keeperlink/agent_connector.hpp"
#include "keeperlink/fake_agent.hpp"

// For tests: a channel, and the agent at its other end that says what the test tells it.
namespace oyat::keeperlink {

using namespace std::chrono_literals;

inline constexpr std::uint64_t kGeneration = 7;

// A channel and the agent that it talks to.
struct ChannelPair {
    ChannelPair(Executor executor, Fd ours, Fd theirs)
        : connector{make_agent_connector(executor)},
          channel{connector->connect(std::move(ours), kGeneration)},
          agent{executor, std::move(theirs)} {
        channel->on_lost([this](std::string why) { lost = std::move(why); });
    }
    std::unique_ptr<core::AgentConnector> connector;
    std::unique_ptr<core::AgentChannel> channel;
    FakeAgent agent;
    std::string lost;
};

// Runs a story that both sides take part in, after the agent's hello.
inline void run_story(Task<> (*story)(ChannelPair&)) {
    Loop loop;
    auto [ours, theirs] = FakeAgent::socket_pair();
    ChannelPair pair{loop.executor(), std::move(ours), std::move(theirs)};
    pair.agent.hello(kGeneration);
    const auto whole = [](ChannelPair& both, Task<> (*tell)(ChannelPair&)) -> Task<> {
        co_await both.channel->hello(1s);
        co_await with_timeout(5s, "the story", tell(both));
        co_await both.channel->close();
    };
    loop.run(whole(pair, story));
}

inline core::SpawnOrder order_of(std::vector<std::string> argv) {
    core::SpawnOrder order;
    order.argv = std::move(argv);
    return order;
}

// A process that the agent says has started.
inline Task<std::unique_ptr<core::AgentProcess>> started(ChannelPair& pair, std::uint32_t pid = 42) {
    std::optional<std::unique_ptr<core::AgentProcess>> spawned;
    const auto answer = [](FakeAgent& agent, std::uint32_t number) -> Task<> {
        const auto [stream, request] = co_await agent.request();
        agent.started(stream, number);
        co_await sleep_for(1h);
    };
    co_await race(store_in(spawned, pair.channel->spawn(order_of({"x"}))), answer(pair.agent, pid));
    co_return *std::move(spawned);
}

// Waits for the loss of the channel and returns the reason.
inline Task<std::string> loss_of(ChannelPair& pair) {
    while (pair.lost.empty()) co_await yield_now();
    co_return pair.lost;
}

}  // namespace oyat::keeperlink
