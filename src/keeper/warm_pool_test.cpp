#include "keeper/warm_pool.hpp"

#include <gtest/gtest.h>

namespace oyat::keeper {
namespace {

TEST(WarmPool, GivesEachEntryOnce) {
    WarmPool pool{{.least = 2, .most = 2}};
    pool.note_use("a");
    pool.put("a", "i1");
    EXPECT_EQ(pool.take("a"), "i1");
    EXPECT_EQ(pool.take("a"), std::nullopt);
}

TEST(WarmPool, GivesNoEntryOfAnotherTemplate) {
    WarmPool pool{{.least = 2, .most = 2}};
    pool.note_use("a");
    pool.put("a", "i1");
    EXPECT_EQ(pool.take("b"), std::nullopt);
}

TEST(WarmPool, WantsEntriesForWhatWasAskedForUntilItIsFull) {
    WarmPool pool{{.least = 2, .most = 2}};
    EXPECT_EQ(pool.missing(), std::nullopt);
    pool.note_use("a");
    EXPECT_EQ(pool.missing(), "a");
    pool.put("a", "i1");
    pool.put("a", "i2");
    EXPECT_EQ(pool.missing(), std::nullopt);
}

TEST(WarmPool, FillsThePoorestFirst) {
    WarmPool pool{{.least = 3, .most = 3}};
    pool.note_use("a");
    pool.note_use("b");
    pool.put("b", "i1");
    EXPECT_EQ(pool.missing(), "a");
}

TEST(WarmPool, ForgetsTheTemplateThatWasAskedForLongestAgo) {
    WarmPool pool{{.least = 1, .most = 1}};
    pool.note_use("old");
    pool.put("old", "i1");
    for (const char* digest : {"b", "c", "d", "e"}) pool.note_use(digest);
    EXPECT_EQ(pool.surplus(), std::deque<std::string>{"i1"});
    EXPECT_EQ(pool.take("old"), std::nullopt);
}

TEST(WarmPool, MakesSurplusOfAnEntryThatComesTooLate) {
    WarmPool pool{{.least = 1, .most = 1}};
    pool.put("removed", "i1");
    EXPECT_EQ(pool.surplus(), std::deque<std::string>{"i1"});
}

TEST(WarmPool, KeepsNothingWhenItsSizeIsZero) {
    WarmPool pool{{.least = 0, .most = 0}};
    pool.note_use("a");
    EXPECT_EQ(pool.missing(), std::nullopt);
}

// How many a refill makes.
std::size_t fill(WarmPool& pool) {
    std::size_t made = 0;
    for (; pool.missing(); ++made) pool.put(*pool.missing(), "i" + std::to_string(made));
    return made;
}

TEST(WarmPool, GrowsByWhatWasAskedForInVain) {
    WarmPool pool{{.least = 1, .most = 4}};
    pool.note_use("a");
    EXPECT_EQ(fill(pool), 1U);
    for (int asked = 0; asked < 3; ++asked) (void)pool.take("a");
    EXPECT_EQ(fill(pool), 3U);
    for (int asked = 0; asked < 100; ++asked) (void)pool.take("a");
    EXPECT_EQ(fill(pool), 4U);
}

TEST(WarmPool, ShrinksToWhatWasNeededSinceTheLastTrim) {
    WarmPool pool{{.least = 1, .most = 8}};
    pool.note_use("a");
    for (int asked = 0; asked < 7; ++asked) (void)pool.take("a");
    EXPECT_EQ(fill(pool), 8U);
    pool.trim();  // they are new: nothing is known of them
    EXPECT_TRUE(pool.surplus().empty());
    (void)pool.take("a");
    (void)pool.take("a");
    EXPECT_EQ(fill(pool), 2U);
    pool.trim();  // six of the eight lay idle
    EXPECT_EQ(pool.surplus().size(), 6U);
    EXPECT_EQ(pool.size(), 2U);
    pool.trim();
    EXPECT_EQ(pool.surplus().size(), 1U);
    pool.trim();
    EXPECT_TRUE(pool.surplus().empty()) << "the least stays";
    EXPECT_EQ(fill(pool), 0U);
}

}  // namespace
}  // namespace oyat::keeper
