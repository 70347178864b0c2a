#include "cgroup/hierarchies.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace oyat::cgroup {
namespace {

constexpr const char* kHybrid =
    "27 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
    "31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755\n"
    "32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:9 - cgroup cgroup rw,cpu,cpuacct\n"
    "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
    "40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd\n"
    "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n";

TEST(Hierarchies, FindsV1ControllersAndTheV2TreeOfAHybridMachine) {
    const Hierarchies found = Hierarchies::parse(kHybrid);
    EXPECT_EQ(found.mode(), Mode::hybrid);
    EXPECT_EQ(found.v2(), "/sys/fs/cgroup/unified");
    EXPECT_EQ(found.v1(Controller::memory), "/sys/fs/cgroup/memory");
    EXPECT_EQ(found.v1(Controller::cpu), "/sys/fs/cgroup/cpu,cpuacct");
    EXPECT_EQ(found.v1(Controller::cpuacct), "/sys/fs/cgroup/cpu,cpuacct");
    EXPECT_EQ(found.v1(Controller::pids), "");
}

TEST(Hierarchies, APureV2MachineHasOneTree) {
    const Hierarchies found = Hierarchies::parse(
        "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 "
        "rw,nsdelegate,memory_recursiveprot\n");
    EXPECT_EQ(found.mode(), Mode::v2);
    EXPECT_EQ(found.v2(), "/sys/fs/cgroup");
}

TEST(Hierarchies, NamedHierarchiesAndReadOnlyMountsDoNotCount) {
    EXPECT_EQ(Hierarchies::parse("40 31 0:37 / /c/systemd rw - cgroup cgroup rw,name=systemd\n").mode(),
              Mode::none);
    EXPECT_EQ(Hierarchies::parse("30 23 0:26 / /c ro,nosuid - cgroup2 cgroup rw\n").mode(), Mode::none);
}

TEST(Hierarchies, MountPointsAreUnescaped) {
    EXPECT_EQ(Hierarchies::parse("30 23 0:26 / /my\\040groups rw - cgroup2 cgroup2 rw\n").v2(), "/my groups");
}

TEST(Hierarchies, ShortOrStrangeLinesAreSkipped) {
    for (const char* text :
         {"", "\n\n", "1 2 3", "a b c d e f g h i j", "1 2 0:1 / /x rw -", "1 2 0:1 / /x rw - cgroup2"}) {
        EXPECT_EQ(Hierarchies::parse(text).mode(), Mode::none) << text;
    }
}

TEST(Hierarchies, AMissingMountTableIsAnError) {
    EXPECT_THROW(Hierarchies::probe("/nonexistent/mountinfo"), Error);
}

}  // namespace
}  // namespace oyat::cgroup
