#include "egress/answer_cache.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"

namespace oyat::egress {
namespace {

using dns::Type;
using std::chrono::seconds;

constexpr MonoTime kNow{std::chrono::hours{1}};

dns::Reply reply(std::uint32_t ttl, std::size_t size = 4, Type type = Type::a) {
    const dns::WireName name = or_throw(dns::to_wire("www.test"));
    return {.question = {.name = name, .type = type},
            .answers = {{.name = name, .type = type, .ttl = ttl, .data = std::string(size, 'x')}}};
}

TEST(AnswerCache, AnswersForAsLongAsTheResolverSaid) {
    AnswerCache cache;
    cache.keep("www.test", reply(60), kNow);
    EXPECT_FALSE(cache.find("other.test", Type::a, kNow));
    EXPECT_FALSE(cache.find("www.test", Type::txt, kNow));
    EXPECT_EQ(cache.find("www.test", Type::a, kNow + seconds{20})->left, seconds{40});
    EXPECT_EQ(cache.find("www.test", Type::a, kNow + Millis{59'500})->left, seconds{1});
    EXPECT_FALSE(cache.find("www.test", Type::a, kNow + seconds{60}));
}

TEST(AnswerCache, KeepsNothingForLessThanThirtySecondsOrMoreThanFiveMinutes) {
    AnswerCache cache;
    cache.keep("soon.test", reply(0), kNow);
    cache.keep("late.test", reply(1'000'000), kNow);
    EXPECT_EQ(cache.find("soon.test", Type::a, kNow)->left, seconds{30});
    EXPECT_EQ(cache.find("late.test", Type::a, kNow)->left, seconds{300});
}

TEST(AnswerCache, TheLatestAnswerCounts) {
    AnswerCache cache;
    cache.keep("www.test", reply(60), kNow);
    cache.keep("www.test", reply(60), kNow + seconds{30});
    EXPECT_EQ(cache.size(), 1u);
    EXPECT_EQ(cache.find("www.test", Type::a, kNow + seconds{30})->left, seconds{60});
}

TEST(AnswerCache, DoesNotRememberThatThereIsNothing) {
    AnswerCache cache;
    dns::Reply none = reply(60);
    none.rcode = dns::Rcode::no_such_name;
    cache.keep("none.test", none, kNow);
    cache.keep("empty.test", {.question = none.question}, kNow);
    EXPECT_EQ(cache.size(), 0u);
}

TEST(AnswerCache, IsBoundedInEntriesAndBytesAndDropsWhatEndsSoonest) {
    AnswerCache cache;
    for (std::size_t i = 0; i < 3 * AnswerCache::kMaxEntries; ++i) {
        cache.keep(std::to_string(i) + ".test", reply(i == 0 ? 300 : 60), kNow);
        EXPECT_LE(cache.size(), AnswerCache::kMaxEntries);
    }
    EXPECT_TRUE(cache.find("0.test", Type::a, kNow));
    EXPECT_FALSE(cache.find("1.test", Type::a, kNow));
    for (std::size_t i = 0; i < 200; ++i) {
        cache.keep(std::to_string(i) + ".big", reply(60, 4096, Type::txt), kNow);
        EXPECT_LE(cache.bytes(), AnswerCache::kMaxBytes);
    }
    cache.keep("huge.test", reply(60, 60'000, Type::txt), kNow);
    EXPECT_FALSE(cache.find("huge.test", Type::txt, kNow));
}

}  // namespace
}  // namespace oyat::egress
