#include "egress/pins.hpp"

#include <gtest/gtest.h>

namespace oyat::egress {
namespace {

using std::chrono::seconds;

TEST(Pins, KnowTheNameThatWasLookedUpLast) {
    Pins pins;
    const MonoTime now{};
    pins.pin(IpAddress::v4(1), "a.test", seconds{30}, now);
    pins.pin(IpAddress::v4(1), "b.test", seconds{30}, now);
    EXPECT_EQ(pins.name_of(IpAddress::v4(1), now), "b.test");
    pins.pin(IpAddress::v4(1), "a.test", seconds{30}, now);
    EXPECT_EQ(pins.name_of(IpAddress::v4(1), now), "a.test");
    EXPECT_EQ(pins.size(), 2u);
    EXPECT_EQ(pins.name_of(IpAddress::v4(2), now), "");
}

TEST(Pins, EndAMinuteAfterTheirLifetime) {
    Pins pins;
    const MonoTime now{};
    pins.pin(IpAddress::v4(1), "a.test", seconds{30}, now);
    EXPECT_EQ(pins.name_of(IpAddress::v4(1), now + seconds{90}), "a.test");
    EXPECT_EQ(pins.name_of(IpAddress::v4(1), now + seconds{91}), "");
}

TEST(Pins, AreBounded) {
    Pins pins;
    const MonoTime now{};
    for (std::uint32_t i = 0; i < 3 * Pins::kMax; ++i) {
        pins.pin(IpAddress::v4(i), "a.test", seconds{30}, now + std::chrono::milliseconds{i});
    }
    EXPECT_LE(pins.size(), Pins::kMax);
    EXPECT_EQ(pins.name_of(IpAddress::v4(3 * Pins::kMax - 1), now), "a.test");
}

}  // namespace
}  // namespace oyat::egress
