#include "agent/hosts_file.hpp"

#include <gtest/gtest.h>

namespace oyat::agent {
namespace {

TEST(HostsRenamed, ReplacesTheLineOfTheOldName) {
    EXPECT_EQ(hosts_renamed("127.0.0.1 localhost\n127.0.1.1 old\n10.0.0.1 old\n", "old", "new"),
              "127.0.0.1 localhost\n127.0.1.1 new\n10.0.0.1 old\n");
    EXPECT_EQ(hosts_renamed("127.0.1.1\told", "old", "new"), "127.0.1.1 new\n");
}

TEST(HostsRenamed, AddsALineWhereThereIsNone) {
    EXPECT_EQ(hosts_renamed("", "old", "new"), "127.0.1.1 new\n");
    EXPECT_EQ(hosts_renamed("127.0.1.1 older\n", "old", "new"), "127.0.1.1 older\n127.0.1.1 new\n");
    EXPECT_EQ(hosts_renamed("127.0.1.1 x\n", "", "new"), "127.0.1.1 x\n127.0.1.1 new\n");
}

TEST(HostsRenamed, TakesTheAddressForNoName) {
    EXPECT_EQ(hosts_renamed("127.0.1.1\n", "127.0.1.1", "new"), "127.0.1.1\n127.0.1.1 new\n");
}

TEST(HostsRenamed, NamesItOnce) {
    EXPECT_EQ(hosts_renamed("127.0.1.1 new\n127.0.1.1 old\n", "old", "new"), "127.0.1.1 new\n");
    EXPECT_EQ(hosts_renamed("127.0.1.1 new\n", "new", "new"), "127.0.1.1 new\n");
}

}  // namespace
}  // namespace oyat::agent
