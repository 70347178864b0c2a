#include "io/worker_pool.hpp"

#include <gtest/gtest.h>

#include <latch>
#include <string>
#include <thread>

#include "base/error.hpp"
#include "io/gate.hpp"
#include "io/post.hpp"
#include "io/run.hpp"
#include "io/task_group.hpp"
#include "io/timer.hpp"

namespace oyat {
namespace {

Task<> leave_and_return() {
    WorkerPool pool{1};
    const auto home = std::this_thread::get_id();
    const auto there = co_await on_worker(pool, [] { return std::this_thread::get_id(); });
    EXPECT_NE(there, home);
    EXPECT_EQ(std::this_thread::get_id(), home);
}

TEST(WorkerPool, RunsElsewhereAndResumesAtHome) {
    run(leave_and_return());
}

Task<> fail_elsewhere() {
    WorkerPool pool{1};
    co_await on_worker(pool, [] { throw Error{Errc::exhausted, "disk full"}; });
}

TEST(WorkerPool, PassesExceptions) {
    EXPECT_THROW(run(fail_elsewhere()), Error);
}

Task<> overload() {
    WorkerPool pool{1, 1};
    std::latch started{1};
    std::latch release{1};
    std::string log;
    TaskGroup group{co_await boost::asio::this_coro::executor};
    group.spawn(on_worker(pool, [&] {
        started.count_down();
        release.wait();
        log += "first;";
    }));
    co_await yield_now();
    started.wait();  // the only thread is busy
    group.spawn(on_worker(pool, [&] { log += "second;"; }));
    co_await yield_now();
    EXPECT_THROW(co_await on_worker(pool, [] {}), Error);
    release.count_down();
    // A call cannot be canceled: close waits for what it refers to.
    co_await group.close();
    EXPECT_EQ(log, "first;second;");
}

TEST(WorkerPool, RefusesMoreThanItsQueueHolds) {
    run(overload());
}

Task<> post_from_elsewhere() {
    Gate gate;
    std::jthread other{[&gate, executor = co_await boost::asio::this_coro::executor] {
        post(executor, [&gate] { gate.open(); });
    }};
    co_await gate.pass();
}

TEST(Post, ComesFromAnyThread) {
    run(post_from_elsewhere());
}

}  // namespace
}  // namespace oyat
