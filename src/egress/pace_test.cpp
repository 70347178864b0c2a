#include "egress/pace.hpp"

#include <gtest/gtest.h>

namespace oyat::egress {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr MonoTime kNow{std::chrono::hours{1}};

TEST(Pace, LetsASavedSecondPassAndThenHoldsTheRate) {
    Pace pace{1000};
    EXPECT_EQ(pace.after(1000, kNow), seconds{0});
    EXPECT_EQ(pace.after(500, kNow), milliseconds{500});
    EXPECT_EQ(pace.after(500, kNow + milliseconds{500}), milliseconds{500});
}

TEST(Pace, SavesNoMoreThanASecond) {
    Pace pace{1000};
    EXPECT_EQ(pace.after(1000, kNow), seconds{0});
    EXPECT_EQ(pace.after(2000, kNow + std::chrono::hours{5}), seconds{1});
}

TEST(Pace, OfZeroNeverWaits) {
    Pace pace{0};
    EXPECT_EQ(pace.after(1ull << 60, kNow), seconds{0});
}

}  // namespace
}  // namespace oyat::egress
