#include "egress/budgets.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/error.hpp"
#include "policy/rule.hpp"

namespace oyat::egress {
namespace {

using namespace std::chrono_literals;
using Direction = Budgets::Direction;

constexpr std::uint64_t kMiB = 1024 * 1024;

struct Ledger {
    std::vector<std::string> told;
    Budgets budgets;
    MonoTime now{1h};

    explicit Ledger(Budgets::Limits limits = {})
        : budgets{limits, [this](std::string_view budget, std::string_view what, std::uint64_t) {
                      told.push_back(std::string{budget} + " " + std::string{what});
                  }} {}
    std::chrono::nanoseconds up(std::uint64_t bytes, const policy::Rule* rule = nullptr) {
        return budgets.spend(rule, Direction::up, bytes, now);
    }
};

TEST(Budgets, WithoutBoundsNothingIsEverSlow) {
    Ledger ledger;
    EXPECT_EQ(ledger.up(1ull << 50), 0ns);
    EXPECT_TRUE(ledger.budgets.open(nullptr, ledger.now));
    EXPECT_TRUE(ledger.told.empty());
}

TEST(Budgets, ASandboxIsToldOfThenSlowedThenCut) {
    Ledger ledger{{.up_bytes = 10 * kMiB, .down_bytes = 0}};
    EXPECT_EQ(ledger.up(7 * kMiB), 0ns);
    EXPECT_TRUE(ledger.told.empty());
    EXPECT_EQ(ledger.up(kMiB), 0ns);
    EXPECT_EQ(ledger.told, std::vector<std::string>{"up near"});
    EXPECT_TRUE(ledger.budgets.open(nullptr, ledger.now));
    EXPECT_EQ(ledger.up(2 * kMiB), 32s);
    EXPECT_EQ(ledger.told.back(), "up used up");
    EXPECT_FALSE(ledger.budgets.open(nullptr, ledger.now));
    ledger.now += 59s;
    EXPECT_EQ(ledger.up(64 * 1024), 1s);
    ledger.now += 1s;
    EXPECT_THROW((void)ledger.up(1), Error);
    EXPECT_EQ(ledger.budgets.spend(nullptr, Direction::down, kMiB, ledger.now), 0ns);
    EXPECT_EQ(ledger.told.size(), 2u);
}

TEST(Budgets, ANewDayBeginsAnew) {
    Ledger ledger{{.up_bytes = kMiB, .down_bytes = 0}};
    EXPECT_GT(ledger.up(kMiB), 0ns);
    ledger.now += 24h;
    EXPECT_TRUE(ledger.budgets.open(nullptr, ledger.now));
    EXPECT_EQ(ledger.up(1), 0ns);
}

TEST(Budgets, ARuleHasItsOwn) {
    Ledger ledger;
    const policy::Rule rule{.id = "orders", .category = {}, .up_bytes = kMiB, .connections = 2};
    const policy::Rule other{.id = "web", .category = {}};
    EXPECT_TRUE(ledger.budgets.open(&rule, ledger.now));
    EXPECT_TRUE(ledger.budgets.open(&rule, ledger.now));
    EXPECT_FALSE(ledger.budgets.open(&rule, ledger.now));
    ledger.budgets.close(&rule);
    EXPECT_TRUE(ledger.budgets.open(&rule, ledger.now));
    ledger.budgets.close(&rule);
    EXPECT_GT(ledger.up(kMiB, &rule), 0ns);
    EXPECT_FALSE(ledger.budgets.open(&rule, ledger.now));
    EXPECT_TRUE(ledger.budgets.open(&other, ledger.now));
    EXPECT_EQ(ledger.told.back(), "up by rule orders used up");
}

TEST(Budgets, ARuleMayHaveARate) {
    Ledger ledger;
    const policy::Rule rule{.id = "orders", .category = {}, .requests_per_second = 2};
    EXPECT_TRUE(ledger.budgets.open(&rule, ledger.now));
    EXPECT_TRUE(ledger.budgets.request(&rule, ledger.now));
    EXPECT_FALSE(ledger.budgets.request(&rule, ledger.now));
    EXPECT_FALSE(ledger.budgets.open(&rule, ledger.now));
    ledger.now += 500ms;
    EXPECT_TRUE(ledger.budgets.request(&rule, ledger.now));
}

}  // namespace
}  // namespace oyat::egress
