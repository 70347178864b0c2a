#include "policy/review.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"
#include "policy/vocabulary.hpp"

namespace oyat::policy {
namespace {

// "rule: sentence" of each remark.
std::vector<std::string> remarks(std::string_view rules) {
    const Vocabulary words;
    const Document document =
        or_throw(document_from_json(R"({"default":"deny","rule":[)" + std::string{rules} + "]}", words));
    const Ground ground{.closed = {or_throw(Cidr::parse("10.0.0.0/8"))},
                        .opened = {or_throw(Cidr::parse("10.20.0.0/16"))}};
    std::vector<std::string> all;
    for (const Remark& remark : review(document, ground, WallTime{std::chrono::hours{24 * 365 * 56}}))
        all.push_back(remark.rule + ": " + remark.sentence);
    return all;
}

using Remarks = std::vector<std::string>;

TEST(PolicyReview, FindsARuleThatAnEarlierOneHides) {
    EXPECT_EQ(
        remarks(
            R"({"id":"all","action":"deny","host":"*.test"},{"id":"one","action":"allow","host":"a.test"})"),
        Remarks{"one: can never match: rule all before it matches all of it"});
    EXPECT_EQ(
        remarks(
            R"({"id":"one","action":"allow","host":"a.test"},{"id":"all","action":"deny","host":"*.test"})"),
        Remarks{});
    EXPECT_EQ(
        remarks(
            R"({"id":"web","action":"deny","host":"*.test","port":443},{"id":"one","action":"allow","host":"a.test"})"),
        Remarks{});
    EXPECT_EQ(
        remarks(
            R"({"id":"strict","action":"allow","host":"a.test","require":"authority"},{"id":"one","action":"allow","host":"a.test"})"),
        Remarks{});
}

TEST(PolicyReview, TellsThatAPrivateRangeIsClosed) {
    EXPECT_EQ(remarks(R"({"id":"a","action":"allow","cidr":"10.1.0.0/16"})"),
              Remarks{"a: no effect: private range not opened (10.1.0.0/16)"});
    EXPECT_EQ(
        remarks(R"({"id":"a","action":"allow","cidr":["10.20.7.0/24","10.0.0.0/8","198.51.100.0/24"]})"),
        Remarks{});
    EXPECT_EQ(remarks(R"({"id":"a","action":"deny","cidr":"10.1.0.0/16"})"), Remarks{});
}

TEST(PolicyReview, TellsOfTimesThatArePast) {
    EXPECT_EQ(remarks(R"({"id":"a","action":"allow","expires":"2020-01-01T00:00:00Z"})"),
              Remarks{"a: can never match: it ended at 2020-01-01T00:00:00.000Z"});
}

}  // namespace
}  // namespace oyat::policy
