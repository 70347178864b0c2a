#include "keeper/create_rate.hpp"

#include <gtest/gtest.h>

namespace oyat::keeper {
namespace {

TEST(CreateRate, AllowsABurstAndThenTheRate) {
    MonoTime now{};
    CreateRate rate{10, now};
    for (int burst = 0; burst < 10; ++burst) EXPECT_TRUE(rate.allow(now));
    EXPECT_FALSE(rate.allow(now));
    now += Millis{250};
    EXPECT_TRUE(rate.allow(now));
    EXPECT_TRUE(rate.allow(now));
    EXPECT_FALSE(rate.allow(now));
}

TEST(CreateRate, SavesNoMoreThanOneSecond) {
    MonoTime now{};
    CreateRate rate{3, now};
    now += std::chrono::hours{1};
    for (int burst = 0; burst < 3; ++burst) EXPECT_TRUE(rate.allow(now));
    EXPECT_FALSE(rate.allow(now));
}

}  // namespace
}  // namespace oyat::keeper
