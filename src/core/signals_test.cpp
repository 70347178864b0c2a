#include "core/signals.hpp"

#include <gtest/gtest.h>

namespace oyat::core {
namespace {

using namespace std::chrono_literals;

class SignalsTest : public testing::Test {
protected:
    std::optional<Signal> hear(std::string type, boost::json::object fields) {
        return suspicion.hear({.type = std::move(type), .fields = std::move(fields)}, now);
    }
    std::optional<Signal> denied(const std::string& address, std::uint64_t port = 443,
                                 std::uint64_t count = 1) {
        return hear("connect.denied", {{"addr", address}, {"port", port}, {"count", count}});
    }
    // The sandbox computes for so long, a sample every five seconds.
    std::optional<Signal> compute(std::chrono::seconds time, double percent) {
        std::optional<Signal> signal;
        for (const MonoTime end = now + time; now < end && !signal; now += 5s)
            signal = suspicion.see_cpu(percent, 200, now);
        return signal;
    }

    // So much is sent and received until the next sample.
    std::optional<Signal> moves(std::uint64_t up, std::uint64_t down) {
        so_far.up += up;
        so_far.down += down;
        return suspicion.see_traffic(so_far, now);
    }

    SignalRules rules;
    Suspicion suspicion{rules};
    MonoTime now = MonoTime{} + 24h;
    Traffic so_far;
};

TEST_F(SignalsTest, ALookRoundForAWayOutIsABurstOfDenials) {
    for (int host = 0; host < 50; ++host) EXPECT_FALSE(denied("10.0.0." + std::to_string(host)));
    const auto signal = denied("10.0.0.50");
    ASSERT_TRUE(signal);
    EXPECT_EQ(signal->kind, SignalKind::deny_burst);
    EXPECT_NE(signal->why.find("10.0.0.50:443"), std::string::npos);
}

TEST_F(SignalsTest, SlowRefusalsAreNoBurst) {
    for (int host = 0; host < 200; ++host) {
        EXPECT_FALSE(denied("10.0.0." + std::to_string(host)));
        now += 2s;
    }
}

TEST_F(SignalsTest, APackageManagerThatTriesAgainAndAgainIsNoBurst) {
    for (const char* name : {"registry.npmjs.org", "pypi.org", "deb.debian.org"}) {
        for (int attempt = 0; attempt < 300; ++attempt)
            EXPECT_FALSE(hear("dns.denied", {{"name", name}, {"count", 2}}));
    }
}

TEST_F(SignalsTest, WhatWasRaisedIsNotRaisedAgainForTenMinutes) {
    const auto scan = [&] {
        int raised = 0;
        for (int host = 0; host < 120; ++host) raised += denied("10.1.0." + std::to_string(host)).has_value();
        return raised;
    };
    EXPECT_EQ(scan(), 1);
    now += 2min;
    EXPECT_EQ(scan(), 0);
    now += 9min;
    EXPECT_EQ(scan(), 1);
}

TEST_F(SignalsTest, ThreeMailConnectionsAreAbuseWhetherAllowedOrNot) {
    EXPECT_FALSE(denied("203.0.113.1", 25));
    EXPECT_FALSE(denied("203.0.113.2", 587));
    const auto signal = hear("connect.allowed", {{"host", "mail.example"}, {"port", 465}});
    ASSERT_TRUE(signal);
    EXPECT_EQ(signal->kind, SignalKind::abuse);
}

TEST_F(SignalsTest, ThreeConnectionsToIrcAreAbuse) {
    EXPECT_FALSE(denied("203.0.113.1", 6667));
    EXPECT_FALSE(denied("203.0.113.2", 6697));
    EXPECT_TRUE(denied("203.0.113.3", 6667));
}

TEST_F(SignalsTest, MiningIsKnownByPortAndByName) {
    EXPECT_FALSE(denied("203.0.113.1", 3333));
    EXPECT_FALSE(hear("dns.query", {{"name", "xmr.nanopool.org"}}));
    const auto signal = hear("dns.query", {{"name", "stratum.example.net"}});
    ASSERT_TRUE(signal);
    EXPECT_EQ(signal->kind, SignalKind::abuse);
}

TEST_F(SignalsTest, APoolsNameIsAWholeDomainNotAnEndOfOne) {
    for (int time = 0; time < 10; ++time)
        EXPECT_FALSE(hear("dns.query", {{"name", "notnanopool.org"}, {"count", 10}}));
}

TEST_F(SignalsTest, FarMoreOutThanInIsAnUploadSpike) {
    for (int part = 0; part < 3; ++part) EXPECT_FALSE(moves(64u << 20, 1000));
    const auto signal = moves(64u << 20, 1000);
    ASSERT_TRUE(signal);
    EXPECT_EQ(signal->kind, SignalKind::upload_spike);
}

TEST_F(SignalsTest, DownloadsAndWhatIsSentOverHoursAreNoSpike) {
    EXPECT_FALSE(moves(300u << 20, 2000u << 20));
    now += 11min;
    for (int hour = 0; hour < 20; ++hour) {
        EXPECT_FALSE(moves(100u << 20, 0));
        now += 11min;
    }
}

TEST_F(SignalsTest, WhatIsCountedFromNothingAgainIsNotTakenForMore) {
    EXPECT_FALSE(moves(200u << 20, 0));
    so_far = {};  // its sockets are new ones
    EXPECT_FALSE(moves(50u << 20, 0));
    EXPECT_TRUE(moves(10u << 20, 0));
}

TEST_F(SignalsTest, ThreePlaceholdersOnTheWrongWayAreAProbe) {
    EXPECT_FALSE(hear("secret.leak_attempt", {}));
    EXPECT_FALSE(hear("secret.leak_attempt", {}));
    const auto signal = hear("secret.leak_attempt", {});
    ASSERT_TRUE(signal);
    EXPECT_EQ(signal->kind, SignalKind::secret_probe);
}

TEST_F(SignalsTest, AWholeCpuForTenMinutesWithoutAWordIsSpinning) {
    EXPECT_FALSE(compute(595s, 99));
    const auto signal = compute(30s, 99);
    ASSERT_TRUE(signal);
    EXPECT_EQ(signal->kind, SignalKind::spin);
}

TEST_F(SignalsTest, ATestSuiteThatSaysHowFarItIsDoesNotSpin) {
    for (int step = 0; step < 60; ++step) {
        EXPECT_FALSE(compute(120s, 190));
        suspicion.show_life(now);
    }
}

TEST_F(SignalsTest, WorkWithPausesDoesNotSpin) {
    for (int step = 0; step < 20; ++step) {
        EXPECT_FALSE(compute(300s, 100));
        EXPECT_FALSE(compute(5s, 20));
    }
}

TEST_F(SignalsTest, AHalfCpuAtItsLimitSpinsToo) {
    std::optional<Signal> signal;
    for (int sample = 0; sample < 130 && !signal; ++sample) {
        signal = suspicion.see_cpu(49, 50, now);
        now += 5s;
    }
    EXPECT_TRUE(signal);
}

TEST_F(SignalsTest, WhatTheNameServerRaisesIsPassedOn) {
    const auto signal = hear("signal.dns_tunnel", {{"domain", "evil.test"}, {"names", 200}});
    ASSERT_TRUE(signal);
    EXPECT_EQ(signal->kind, SignalKind::dns_tunnel);
}

TEST_F(SignalsTest, ActionsAreThreeWords) {
    EXPECT_EQ(*parse_signal_action("freeze"), SignalAction::freeze);
    for (const char* text : {"", "Note", "stop", "kill "}) EXPECT_FALSE(parse_signal_action(text)) << text;
}

}  // namespace
}  // namespace oyat::core
