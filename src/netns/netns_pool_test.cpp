#include "netns/netns_pool.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

namespace oyat::netns {
namespace {

TEST(NetnsPool, RefillsAFewAtATimeUpToWhatIsWanted) {
    if (::geteuid() != 0) GTEST_SKIP() << "making a network namespace needs root";
    NetnsPool pool{Shape::loopback, 3};
    EXPECT_TRUE(pool.refill(2));
    EXPECT_EQ(pool.ready(), 2U);
    EXPECT_FALSE(pool.refill(2));
    EXPECT_EQ(pool.ready(), 3U);
}

TEST(NetnsPool, GivesEachOutOnceAndNeverRunsDry) {
    if (::geteuid() != 0) GTEST_SKIP() << "making a network namespace needs root";
    NetnsPool pool{Shape::loopback, 1};
    pool.refill(1);
    const Netns first = pool.take();
    const Netns second = pool.take();
    EXPECT_NE(first.inode(), second.inode());
    EXPECT_EQ(pool.ready(), 0U);
}

}  // namespace
}  // namespace oyat::netns
