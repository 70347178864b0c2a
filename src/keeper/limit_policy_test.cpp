#include "keeper/limit_policy.hpp"

#include <gtest/gtest.h>

namespace oyat::keeper {
namespace {

LimitPolicy policy() {
    LimitPolicy policy = LimitPolicy::for_this_machine();
    EXPECT_TRUE(policy.read_lines(
        "max_memory_bytes = 1000000000 # one\n\n  max_processes=50\ndefault_cpu_millis = 500\n"));
    return policy;
}

TEST(LimitPolicy, GivesTheDefaultWhereNothingIsAsked) {
    const Result<wire::BoxLimits> limits = policy().judge({});
    ASSERT_TRUE(limits);
    EXPECT_EQ(limits->cpu_millis, 500U);
    EXPECT_EQ(limits->disk_inodes, 1'000'000U);
}

TEST(LimitPolicy, NeverGivesADefaultAboveTheMaximum) {
    const Result<wire::BoxLimits> limits = policy().judge({});
    ASSERT_TRUE(limits);
    EXPECT_EQ(limits->memory_bytes, 1'000'000'000U);
    EXPECT_EQ(limits->processes, 50U);
}

TEST(LimitPolicy, RefusesEachLimitAboveItsMaximum) {
    const LimitPolicy server = policy();
    for (auto over : {wire::BoxLimits{.memory_bytes = server.maximum.memory_bytes + 1},
                      wire::BoxLimits{.cpu_millis = server.maximum.cpu_millis + 1},
                      wire::BoxLimits{.processes = server.maximum.processes + 1},
                      wire::BoxLimits{.disk_bytes = server.maximum.disk_bytes + 1},
                      wire::BoxLimits{.disk_inodes = server.maximum.disk_inodes + 1}}) {
        const Result<wire::BoxLimits> limits = server.judge(over);
        ASSERT_FALSE(limits);
        EXPECT_EQ(limits.error().code(), Errc::exhausted);
        EXPECT_EQ(limits.error().fault(), Fault::limit);
    }
}

TEST(LimitPolicy, RefusesAFileThatItWouldNotUnderstand) {
    for (const char* text :
         {"max_memory = 5", "max_processes", "max_processes = many", "max_boxes = 99999999999"}) {
        LimitPolicy fresh;
        EXPECT_FALSE(fresh.read_lines(text)) << text;
    }
}

}  // namespace
}  // namespace oyat::keeper
