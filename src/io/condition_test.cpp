#include "io/condition.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "io/channel.hpp"
#include "io/gate.hpp"
#include "io/run.hpp"
#include "io/task_group.hpp"
#include "io/timer.hpp"

namespace oyat {
namespace {

Task<> wait_and_note(Condition& condition, std::string& log, char name) {
    co_await condition.wait();
    log.push_back(name);
}

Task<> wait_in_order() {
    Condition condition;
    std::string log;
    TaskGroup group{co_await boost::asio::this_coro::executor};
    for (const char name : {'a', 'b', 'c'}) group.spawn(wait_and_note(condition, log, name));
    co_await yield_now();
    condition.notify_one();
    EXPECT_EQ(log, "") << "nobody runs inside notify";
    co_await yield_now();
    EXPECT_EQ(log, "a");
    condition.notify_all();
    co_await group.wait_idle();
    EXPECT_EQ(log, "abc");
}

TEST(Condition, WakesInTheOrderOfWaiting) {
    run(wait_in_order());
}

Task<> cancel_one_that_was_woken() {
    Condition condition;
    std::string log;
    TaskGroup first{co_await boost::asio::this_coro::executor};
    TaskGroup second{co_await boost::asio::this_coro::executor};
    first.spawn(wait_and_note(condition, log, 'a'));
    second.spawn(wait_and_note(condition, log, 'b'));
    co_await yield_now();
    condition.notify_one();
    co_await first.close();  // 'a' was told but never ran on
    co_await second.wait_idle();
    EXPECT_EQ(log, "b");
}

TEST(Condition, AWakeUpOfACanceledWaiterIsNotLost) {
    run(cancel_one_that_was_woken());
}

Task<> destroy_while_waiting() {
    auto condition = std::make_unique<Condition>();
    std::string log;
    TaskGroup group{co_await boost::asio::this_coro::executor};
    group.spawn(wait_and_note(*condition, log, 'a'));
    group.spawn(wait_and_note(*condition, log, 'b'));
    co_await yield_now();
    condition->notify_one();
    condition.reset();
    co_await group.wait_idle();
    EXPECT_EQ(log, "a");
}

TEST(Condition, LetsItsWaitersGoWhenItDies) {
    run(destroy_while_waiting());
}

Task<> pass_and_note(Gate& gate, std::string& log) {
    co_await gate.pass();
    log += "passed";
}

Task<> use_gate() {
    Gate gate;
    std::string log;
    TaskGroup group{co_await boost::asio::this_coro::executor};
    group.spawn(pass_and_note(gate, log));
    co_await yield_now();
    EXPECT_EQ(log, "");
    gate.open();
    co_await group.wait_idle();
    co_await pass_and_note(gate, log);
    EXPECT_EQ(log, "passedpassed");
}

TEST(Gate, HoldsUntilOpened) {
    run(use_gate());
}

Task<> produce(Channel<int>& channel, int count, int& produced) {
    for (; produced < count; ++produced) {
        if (!co_await channel.push(produced)) co_return;
    }
    channel.close();
}

Task<> consume_all() {
    Channel<int> channel{2};
    int produced = 0;
    TaskGroup group{co_await boost::asio::this_coro::executor};
    group.spawn(produce(channel, 100, produced));
    co_await yield_now();
    co_await yield_now();
    EXPECT_EQ(produced, 2) << "a full channel holds its producer back";
    for (int expected = 0; expected < 100; ++expected) EXPECT_EQ(co_await channel.pop(), expected);
    EXPECT_EQ(co_await channel.pop(), std::nullopt);
    co_await group.close();
}

TEST(Channel, KeepsOrderAndHoldsTheProducerBack) {
    run(consume_all());
}

Task<> close_with_values() {
    Channel<int> channel{2};
    EXPECT_TRUE(channel.try_push(1));
    EXPECT_TRUE(channel.try_push(2));
    EXPECT_FALSE(channel.try_push(3));
    channel.close();
    EXPECT_FALSE(co_await channel.push(4));
    EXPECT_EQ(co_await channel.pop(), 1);
    EXPECT_EQ(co_await channel.pop(), 2);
    EXPECT_EQ(co_await channel.pop(), std::nullopt);
}

TEST(Channel, GivesWhatWasInsideAfterClose) {
    run(close_with_values());
}

}  // namespace
}  // namespace oyat
