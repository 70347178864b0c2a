#include "core/fan_out.hpp"

#include <gtest/gtest.h>

#include "io/loop.hpp"
#include "io/task_group.hpp"
#include "io/timer.hpp"

namespace oyat::core {
namespace {

using namespace std::chrono_literals;

Output text(std::string bytes) {
    return {.channel = OutputChannel::out, .bytes = std::move(bytes)};
}

Task<std::string> next_text(Subscription& subscription) {
    const auto event = co_await subscription.next();
    co_return event ? std::get<Output>(*event).bytes : "(nothing)";
}

void run_story(Task<> (*story)(std::shared_ptr<FanOut>)) {
    Loop loop;
    loop.run(with_timeout(5s, "the story", story(std::make_shared<FanOut>())));
}

Task<> in_order(std::shared_ptr<FanOut> out) {
    auto one = out->subscribe();
    out->publish(text("a"));
    auto two = out->subscribe();
    out->publish(text("b"));
    out->finish({.exit_code = 3});
    EXPECT_EQ(co_await next_text(*one), "a");
    EXPECT_EQ(co_await next_text(*one), "b");
    EXPECT_EQ(co_await next_text(*two), "b");
    EXPECT_EQ(std::get<ProcessEnd>((co_await two->next()).value()).exit_code, 3);
    EXPECT_FALSE(co_await two->next());
}
TEST(FanOut, GivesEachSubscriberWhatComesAfterIt) {
    run_story(in_order);
}

Task<> held(std::shared_ptr<FanOut> out) {
    out->publish(text("before "));
    out->publish(text("anybody looked"));
    auto first = out->subscribe();
    auto second = out->subscribe();
    out->publish(text("!"));
    EXPECT_EQ(co_await next_text(*first), "before ");
    EXPECT_EQ(co_await next_text(*first), "anybody looked");
    EXPECT_EQ(co_await next_text(*first), "!");
    EXPECT_EQ(co_await next_text(*second), "!");
}
TEST(FanOut, KeepsEarlyOutputForTheFirstSubscriber) {
    run_story(held);
}

Task<> held_bound(std::shared_ptr<FanOut> out) {
    for (int i = 0; i < 40; ++i) out->publish(text(std::string(60'000, static_cast<char>('A' + i))));
    auto first = out->subscribe();
    out->finish({});
    std::string all;
    while (true) {
        const auto event = co_await first->next();
        if (std::holds_alternative<ProcessEnd>(*event)) break;
        all += std::get<Output>(*event).bytes;
    }
    EXPECT_EQ(all.size(), FanOut::kHeld);
    EXPECT_EQ(all.back(), static_cast<char>('A' + 39));
}
TEST(FanOut, KeepsTheLatestMebibyteOfIt) {
    run_story(held_bound);
}

Task<> late(std::shared_ptr<FanOut> out) {
    out->stop_holding();
    out->publish(text("unseen"));
    out->finish({.exit_code = 1});
    auto who = out->subscribe();
    EXPECT_TRUE(std::holds_alternative<ProcessEnd>((co_await who->next()).value()));
    EXPECT_FALSE(co_await who->next());
}
TEST(FanOut, TellsALateSubscriberOnlyTheEnd) {
    run_story(late);
}

// Publishes until told to stop and counts how often the pace allowed it.
Task<> giver(std::shared_ptr<FanOut> out, std::size_t& given) {
    while (true) {
        out->publish(text(std::string(1'000, 'x')));
        ++given;
        co_await out->settled();
        co_await yield_now();
    }
}

Task<> one_slow(std::shared_ptr<FanOut> out) {
    TaskGroup tasks{co_await boost::asio::this_coro::executor};
    auto slow = out->subscribe();
    std::size_t given = 0;
    tasks.spawn(giver(out, given));
    for (int turn = 0; turn < 100; ++turn) co_await yield_now();
    EXPECT_EQ(given, 1u);  // the first is not acknowledged: nothing more is read from the process
    co_await slow->next();
    for (int turn = 0; turn < 100; ++turn) co_await yield_now();
    EXPECT_EQ(given, 1u);
    co_await slow->next();  // acknowledges the first
    for (int turn = 0; turn < 100; ++turn) co_await yield_now();
    EXPECT_EQ(given, 2u);
    slow.reset();  // nobody left: the process runs free
    for (int turn = 0; turn < 100; ++turn) co_await yield_now();
    EXPECT_GT(given, 10u);
    co_await tasks.close();
}
TEST(FanOut, WaitsForASubscriberThatIsAlone) {
    run_story(one_slow);
}

Task<> one_fast(std::shared_ptr<FanOut> out) {
    TaskGroup tasks{co_await boost::asio::this_coro::executor};
    auto slow = out->subscribe();
    auto fast = out->subscribe();
    std::size_t given = 0;
    tasks.spawn(giver(out, given));
    std::size_t got = 0;
    while (got < 2 * FanOut::kQueue) got += (co_await next_text(*fast)).size();
    try {
        while (true) co_await slow->next();
    } catch (const Error& e) {
        EXPECT_EQ(e.code(), Errc::exhausted);
    }
    co_await tasks.close();
}
TEST(FanOut, DropsTheSlowOneOfTwo) {
    run_story(one_fast);
}

Task<> interrupted(std::shared_ptr<FanOut> out) {
    auto who = out->subscribe();
    out->publish(text("last"));
    out->interrupt(Error{Errc::unavailable, "paused"});
    EXPECT_EQ(co_await next_text(*who), "last");
    try {
        co_await who->next();
        ADD_FAILURE();
    } catch (const Error& e) {
        EXPECT_EQ(e.message(), "paused");
    }
    co_await out->settled();  // and holds nobody up
    auto again = out->subscribe();
    out->publish(text("after"));
    EXPECT_EQ(co_await next_text(*again), "after");
}
TEST(FanOut, EndsItsSubscribersWithoutEndingTheProcess) {
    run_story(interrupted);
}

Task<> crowd(std::shared_ptr<FanOut> out) {
    std::vector<std::unique_ptr<Subscription>> all;
    for (std::size_t i = 0; i < FanOut::kMaxSubscribers; ++i) all.push_back(out->subscribe());
    EXPECT_THROW((void)out->subscribe(), Error);
    all.pop_back();
    all.push_back(out->subscribe());
    co_return;
}
TEST(FanOut, BoundsItsSubscribers) {
    run_story(crowd);
}

}  // namespace
}  // namespace oyat::core
