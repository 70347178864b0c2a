#include "keeper/warm_pool.hpp"

#include <gtest/gtest.h>

namespace oyat::keeper {
namespace {

TEST(WarmPool, GivesEachEntryOnce) {
    WarmPool pool{2};
    pool.note_use("a");
    pool.put("a", "i1");
    EXPECT_EQ(pool.take("a"), "i1");
    EXPECT_EQ(pool.take("a"), std::nullopt);
}

TEST(WarmPool, GivesNoEntryOfAnotherTemplate) {
    WarmPool pool{2};
    pool.note_use("a");
    pool.put("a", "i1");
    EXPECT_EQ(pool.take("b"), std::nullopt);
}

TEST(WarmPool, WantsEntriesForWhatWasAskedForUntilItIsFull) {
    WarmPool pool{2};
    EXPECT_EQ(pool.missing(), std::nullopt);
    pool.note_use("a");
    EXPECT_EQ(pool.missing(), "a");
    pool.put("a", "i1");
    pool.put("a", "i2");
    EXPECT_EQ(pool.missing(), std::nullopt);
}

TEST(WarmPool, FillsThePoorestFirst) {
    WarmPool pool{3};
    pool.note_use("a");
    pool.note_use("b");
    pool.put("b", "i1");
    EXPECT_EQ(pool.missing(), "a");
}

TEST(WarmPool, ForgetsTheTemplateThatWasAskedForLongestAgo) {
    WarmPool pool{1};
    pool.note_use("old");
    pool.put("old", "i1");
    for (const char* digest : {"b", "c", "d", "e"}) pool.note_use(digest);
    EXPECT_EQ(pool.surplus(), std::deque<std::string>{"i1"});
    EXPECT_EQ(pool.take("old"), std::nullopt);
}

TEST(WarmPool, MakesSurplusOfAnEntryThatComesTooLate) {
    WarmPool pool{1};
    pool.put("removed", "i1");
    EXPECT_EQ(pool.surplus(), std::deque<std::string>{"i1"});
}

TEST(WarmPool, KeepsNothingWhenItsSizeIsZero) {
    WarmPool pool{0};
    pool.note_use("a");
    EXPECT_EQ(pool.missing(), std::nullopt);
}

}  // namespace
}  // namespace oyat::keeper
