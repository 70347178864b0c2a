#include "engine/jail/cpu_shares.hpp"

#include <gtest/gtest.h>

namespace oyat::jail {
namespace {

std::vector<int> members(const cpu_set_t& set) {
    std::vector<int> found;
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
        if (CPU_ISSET(static_cast<std::size_t>(cpu), &set)) found.push_back(cpu);
    }
    return found;
}

TEST(CpuShares, RoundsUpToWholeProcessors) {
    const CpuShares shares{{0, 1, 2, 3}};
    EXPECT_EQ(shares.seen(500), 1U);
    EXPECT_EQ(shares.seen(1500), 2U);
    EXPECT_EQ(shares.seen(9000), 4U);
    EXPECT_EQ(shares.seen(0), 4U);  // no limit
}

TEST(CpuShares, TakesProcessorsInTurn) {
    CpuShares shares{{2, 3, 5}};
    EXPECT_EQ(members(shares.next(2000)), (std::vector<int>{2, 3}));
    EXPECT_EQ(members(shares.next(2000)), (std::vector<int>{2, 5}));
    EXPECT_EQ(members(shares.next(1000)), (std::vector<int>{3}));
}

TEST(CpuShares, FindsTheProcessorsOfThisProcess) {
    EXPECT_GE(CpuShares::of_this_process().count(), 1U);
}

}  // namespace
}  // namespace oyat::jail
