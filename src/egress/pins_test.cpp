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

TEST(Pins, KnowAllNamesOfAnAddress) {
    Pins pins;
    const MonoTime now{};
    pins.pin(IpAddress::v4(1), "a.test", seconds{300}, now);
    pins.pin(IpAddress::v4(1), "b.test", seconds{30}, now);
    pins.pin(IpAddress::v4(2), "c.test", seconds{30}, now);
    EXPECT_EQ(pins.names_of(IpAddress::v4(1), now), (std::vector<std::string>{"a.test", "b.test"}));
    EXPECT_EQ(pins.names_of(IpAddress::v4(1), now + seconds{200}), std::vector<std::string>{"a.test"});
    EXPECT_TRUE(pins.names_of(IpAddress::v4(3), now).empty());
}

TEST(Pins, KnowWhereANameLeads) {
    Pins pins;
    const MonoTime now{};
    pins.pin(IpAddress::v4(1), "a.test", seconds{30}, now);
    pins.pin(IpAddress::v4(2), "b.test", seconds{30}, now);
    pins.pin(IpAddress::v4(3), "a.test", seconds{300}, now);
    EXPECT_EQ(pins.addresses_of("a.test", now), (std::vector{IpAddress::v4(3), IpAddress::v4(1)}));
    EXPECT_EQ(pins.addresses_of("a.test", now + seconds{200}), std::vector{IpAddress::v4(3)});
    EXPECT_TRUE(pins.addresses_of("c.test", now).empty());
}

TEST(Pins, DoNotEndWhileAConnectionLives) {
    Pins pins;
    const MonoTime now{};
    const IpAddress address = IpAddress::v4(1);
    pins.pin(address, "a.test", seconds{30}, now);
    {
        const Pins::Hold first{pins, address, now};
        {
            const Pins::Hold second{pins, address, now};
        }
        EXPECT_EQ(pins.name_of(address, now + seconds{5000}), "a.test");
    }
    EXPECT_EQ(pins.name_of(address, now + seconds{5000}), "");
}

TEST(Pins, AConnectionBringsNoEndedPinBack) {
    Pins pins;
    const MonoTime now{};
    const IpAddress address = IpAddress::v4(1);
    pins.pin(address, "a.test", seconds{30}, now);
    const Pins::Hold hold{pins, address, now + seconds{91}};
    EXPECT_EQ(pins.name_of(address, now + seconds{91}), "");
}

TEST(Pins, DoNotAgeInAPausedSandbox) {
    Pins pins;
    const MonoTime now{};
    const IpAddress address = IpAddress::v4(1);
    pins.pin(address, "a.test", seconds{30}, now);
    pins.pause(now + seconds{10});
    EXPECT_EQ(pins.name_of(address, now + seconds{5000}), "a.test");
    pins.resume(now + seconds{5010});
    EXPECT_EQ(pins.name_of(address, now + seconds{5000 + 90}), "a.test");
    EXPECT_EQ(pins.name_of(address, now + seconds{5000 + 91}), "");
}

TEST(Pins, AreTakenOverByTheNextOyatd) {
    Pins before;
    const MonoTime then{std::chrono::hours{100}};
    const IpAddress address = IpAddress::v4(0xC0000207);
    before.pin(address, "a.test", seconds{300}, then);
    before.pin(address, "b.test", seconds{30}, then);
    before.pin(IpAddress::v4(9), "ended.test", seconds{30}, then - seconds{100});
    const boost::json::array saved = before.to_json(then);
    EXPECT_EQ(saved.size(), 2u);

    Pins after;
    const MonoTime now{seconds{5}};  // the clock of another boot
    after.restore(saved, now);
    EXPECT_EQ(after.names_of(address, now), (std::vector<std::string>{"a.test", "b.test"}));
    EXPECT_EQ(after.name_of(address, now + seconds{360}), "a.test");
    EXPECT_EQ(after.name_of(address, now + seconds{361}), "");
}

TEST(Pins, WriteDownTheLatestOnly) {
    Pins pins;
    const MonoTime now{};
    for (std::uint32_t i = 0; i < 2000; ++i) pins.pin(IpAddress::v4(i), "a.test", seconds{30}, now);
    const boost::json::array saved = pins.to_json(now);
    ASSERT_EQ(saved.size(), Pins::kMaxSaved);
    EXPECT_EQ(saved.back().as_array().at(0).as_string(), IpAddress::v4(1999).to_string());
}

TEST(Pins, LeaveOutWhatTheyDoNotUnderstand) {
    Pins pins;
    pins.restore(
        {1, {"192.0.2.7"}, {"192.0.2", "a.test", 1}, {"192.0.2.7", 1, 1}, {"192.0.2.7", "a.test", "1"}},
        MonoTime{});
    EXPECT_EQ(pins.size(), 0u);
    pins.restore({{"192.0.2.7", "a.test", -5}, {"192.0.2.8", "b.test", 1'000'000'000}}, MonoTime{});
    EXPECT_EQ(pins.name_of(IpAddress::v4(0xC0000208), MonoTime{seconds{361}}), "");
}

TEST(Pins,
     KeepTheLatestNamesOfAnAddress) {  // who gives one address a thousand names must not slow each connect
    Pins pins;
    const MonoTime now{};
    for (int i = 0; i < 1000; ++i) pins.pin(IpAddress::v4(1), std::to_string(i) + ".test", seconds{30}, now);
    const std::vector<std::string> names = pins.names_of(IpAddress::v4(1), now);
    ASSERT_EQ(names.size(), Pins::kMaxNames);
    EXPECT_EQ(names.back(), "999.test");
    EXPECT_EQ(names.front(), "936.test");
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
