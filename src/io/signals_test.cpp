#include "io/signals.hpp"

#include <gtest/gtest.h>

#include <csignal>

#include "io/run.hpp"
#include "io/timer.hpp"

namespace oyat {
namespace {

TEST(Signals, KeepsWhatComesWhileNobodyWaits) {
    Loop loop;
    Signals signals{loop.executor(), {SIGUSR1, SIGUSR2}};
    loop.run([](Signals& all) -> Task<> {
        ::raise(SIGUSR1);
        EXPECT_EQ(co_await all.next(), SIGUSR1);
        ::raise(SIGUSR2);
        co_await yield_now();
        co_await yield_now();
        EXPECT_EQ(co_await all.next(), SIGUSR2);
    }(signals));
}

}  // namespace
}  // namespace oyat
