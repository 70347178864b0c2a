#include "io/task_group.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "io/cancel.hpp"
#include "io/gate.hpp"
#include "io/run.hpp"
#include "io/timer.hpp"

namespace oyat {
namespace {

using namespace std::chrono_literals;

Task<> sleep_long(std::string& log, std::string name) {
    log += name + " starts;";
    try {
        co_await sleep_for(1h);
    } catch (const Error& e) {
        log += name + (e.code() == Errc::canceled ? " canceled;" : " failed;");
        throw;
    }
}

Task<> close_group() {
    std::string log;
    TaskGroup group{co_await boost::asio::this_coro::executor};
    group.spawn(sleep_long(log, "a"));
    group.spawn(sleep_long(log, "b"));
    EXPECT_EQ(log, "") << "spawn does not run the task";
    co_await yield_now();
    EXPECT_EQ(group.size(), 2u);
    co_await group.close();
    EXPECT_EQ(log, "a starts;b starts;a canceled;b canceled;");
    EXPECT_EQ(group.size(), 0u);
    group.spawn(sleep_long(log, "late"));
    EXPECT_EQ(group.size(), 0u);
}

TEST(TaskGroup, CloseCancelsAllAndWaitsForThem) {
    run(close_group());
}

Task<> close_unstarted() {
    std::string log;
    TaskGroup group{co_await boost::asio::this_coro::executor};
    group.spawn(sleep_long(log, "a"));
    co_await group.close();
    EXPECT_EQ(log, "");
}

TEST(TaskGroup, WhatWasNotYetStartedNeverStarts) {
    run(close_unstarted());
}

Task<> fail() {
    co_await yield_now();
    throw Error{Errc::internal, "boom"};
}

Task<> collect_error() {
    std::string error;
    TaskGroup group{co_await boost::asio::this_coro::executor, [&error](const std::exception_ptr& e) {
                        try {
                            std::rethrow_exception(e);
                        } catch (const Error& known) {
                            error = known.message();
                        }
                    }};
    group.spawn(fail());
    co_await group.wait_idle();
    EXPECT_EQ(error, "boom");
}

TEST(TaskGroup, HandsErrorsToItsOwner) {
    run(collect_error());
}

Task<> slow_to_end(std::string& log) {
    std::exception_ptr error;
    try {
        co_await sleep_for(1h);
    } catch (...) {
        error = std::current_exception();
    }
    co_await shielded([](std::string& out) -> Task<> {
        co_await sleep_for(1ms);
        out += "cleaned;";
    }(log));
    std::rethrow_exception(error);
}

Task<> close_inner(std::string& log) {
    TaskGroup inner{co_await boost::asio::this_coro::executor};
    inner.spawn(slow_to_end(log));
    std::exception_ptr error;
    try {
        co_await sleep_for(1h);
    } catch (...) {
        error = std::current_exception();
    }
    co_await inner.close();
    log += "closed;";
    std::rethrow_exception(error);
}

Task<> nested() {
    std::string log;
    TaskGroup group{co_await boost::asio::this_coro::executor};
    group.spawn(close_inner(log));
    co_await yield_now();
    co_await yield_now();
    co_await group.close();
    EXPECT_EQ(log, "cleaned;closed;");
}

TEST(TaskGroup, ACanceledTaskStillClosesItsOwnGroupAndCleansUp) {
    run(nested());
}

Task<> emergency(std::string& log) {
    {
        TaskGroup group{co_await boost::asio::this_coro::executor};
        group.spawn(sleep_long(log, "a"));
        co_await yield_now();
    }
    co_await yield_now();
    co_await yield_now();
    EXPECT_EQ(log, "a starts;a canceled;");
}

TEST(TaskGroup, ItsDestructorCancels) {
    std::string log;
    run(emergency(log));
}

Task<int> answer(std::chrono::milliseconds after, int value) {
    co_await sleep_for(after);
    co_return value;
}

Task<> first_wins() {
    std::optional<int> fast;
    std::optional<int> slow;
    EXPECT_EQ(co_await race(store_in(slow, answer(1h, 1)), store_in(fast, answer(1ms, 2))), 1u);
    EXPECT_EQ(fast, 2);
    EXPECT_EQ(slow, std::nullopt);
}

TEST(Race, TheFirstOneCancelsTheOthers) {
    run(first_wins());
}

Task<> failing_race() {
    std::optional<int> slow;
    co_await race(store_in(slow, answer(1h, 1)), fail());
}

TEST(Race, PassesTheFailureOfTheFirst) {
    EXPECT_THROW(run(failing_race()), Error);
}

Task<> cancel_race() {
    std::string log;
    TaskGroup group{co_await boost::asio::this_coro::executor};
    group.spawn([](std::string& out) -> Task<> {
        try {
            co_await race(sleep_long(out, "a"), sleep_long(out, "b"));
        } catch (const Error& e) {
            out += e.code() == Errc::canceled ? "race canceled;" : "?";
        }
    }(log));
    co_await sleep_for(1ms);
    co_await group.close();
    EXPECT_EQ(log, "a starts;b starts;a canceled;b canceled;race canceled;");
}

TEST(Race, CancelingItCancelsAllItsTasks) {
    run(cancel_race());
}

Task<std::string> within(std::chrono::milliseconds limit, std::chrono::milliseconds needed) {
    try {
        co_return std::to_string(co_await with_timeout(limit, "count", answer(needed, 7)));
    } catch (const Error& e) {
        co_return (e.code() == Errc::deadline ? "deadline: " : "other: ") + e.message();
    }
}

TEST(WithTimeout, ReturnsTheValueInTime) {
    EXPECT_EQ(run(within(1h, 1ms)), "7");
}

TEST(WithTimeout, SaysWhatTookTooLong) {
    EXPECT_EQ(run(within(1ms, 1h)), "deadline: count: not done within 1 ms");
}

TEST(Run, PassesExceptions) {
    EXPECT_THROW(run(fail()), Error);
}

Task<> use_timer() {
    Gate rang;
    int rings = 0;
    Timer timer{co_await boost::asio::this_coro::executor, [&] {
                    ++rings;
                    rang.open();
                }};
    timer.arm(1ms);
    timer.arm(3ms);
    EXPECT_TRUE(timer.armed());
    const auto before = std::chrono::steady_clock::now();
    co_await rang.pass();
    EXPECT_GE(std::chrono::steady_clock::now() - before, 2ms) << "moved later";
    EXPECT_FALSE(timer.armed());

    rang.shut();
    timer.arm(1h);
    timer.arm(1ms);  // moved earlier
    co_await rang.pass();

    timer.arm(1ms);
    timer.disarm();
    co_await sleep_for(3ms);
    EXPECT_EQ(rings, 2);
}

TEST(Timer, CanBeMovedAndDisarmed) {
    run(use_timer());
}

}  // namespace
}  // namespace oyat
