#include "keeper/oom_log.hpp"

#include <gtest/gtest.h>

namespace oyat::keeper {
namespace {

constexpr std::string_view kRecord =
    "4,1130,5140900,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),cpuset=/,mems_allowed=0,"
    "oom_memcg=/oyat-ab12cd/i1,task_memcg=/oyat-ab12cd/i1/c4,task=python3,pid=4711,uid=1879049192\n"
    " SUBSYSTEM=cpu\n";

TEST(OomLog, FindsGroupNameAndPidOfTheVictim) {
    const auto victim = parse_oom_record(kRecord);
    ASSERT_TRUE(victim);
    EXPECT_EQ(victim->group, "/oyat-ab12cd/i1/c4");
    EXPECT_EQ(victim->name, "python3");
    EXPECT_EQ(victim->pid, 4711);
}

TEST(OomLog, TakesANameThatImitatesTheRecordAsAName) {
    const auto victim = parse_oom_record(
        "4,1,1,-;oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),task_memcg=/oyat-x/"
        "i1,task=a,pid=1,b,pid=99,uid=5");
    ASSERT_TRUE(victim);
    EXPECT_EQ(victim->name, "a,pid=1,b");
    EXPECT_EQ(victim->pid, 99);
}

TEST(OomLog, PassesOverEverythingElse) {
    for (const char* record :
         {"", ";", "4,1,1,-;Memory cgroup out of memory: Killed process 5", "6,1,1,-;eth0: link up",
          "4,1,1,-;oom-kill:constraint=CONSTRAINT_NONE,task_memcg=/,task=a,pid=1,uid=0",
          "4,1,1,-;oom-kill:constraint=CONSTRAINT_MEMCG,task=a,pid=1",
          "4,1,1,-;oom-kill:constraint=CONSTRAINT_MEMCG,task_memcg=/x,task=a,pid=b"}) {
        EXPECT_FALSE(parse_oom_record(record)) << record;
    }
}

}  // namespace
}  // namespace oyat::keeper
