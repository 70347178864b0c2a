#include "egress/dns_answers.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"

namespace oyat::egress::dns {
namespace {

Destinations destinations() {
    return Destinations{or_throw(OperatorOpenings::parse({"10.20.0.0/16"}, {}))};
}

WireName name(std::string_view text) {
    return or_throw(to_wire(text));
}

Record address(std::string_view owner, std::string_view text, std::uint32_t ttl = 60) {
    const IpAddress ip = or_throw(IpAddress::parse(text));
    return {name(owner), Type::a, ttl, std::string{ip.bytes().begin() + 12, ip.bytes().end()}};
}

Record alias(std::string_view owner, std::string_view target) {
    return {name(owner), Type::cname, 60, name(target)};
}

Result<Selection> select(std::vector<Record> answers, Type type = Type::a) {
    const Question question{.name = name("www.test"), .type = type};
    return select_answers(question, Reply{.question = question, .answers = std::move(answers)},
                          destinations());
}

TEST(DnsAnswers, FollowAliasesAndDropStrangers) {
    const Selection got = or_throw(select({alias("www.test", "cdn.test"), address("other.test", "192.0.2.9"),
                                           address("cdn.test", "192.0.2.1")}));
    ASSERT_EQ(got.records.size(), 2u);
    ASSERT_EQ(got.addresses.size(), 1u);
    EXPECT_EQ(got.addresses[0].to_string(), "192.0.2.1");
}

TEST(DnsAnswers, WithholdAddressesThatNoSandboxMayReach) {  // DNS rebinding, threats E-06
    const Selection got =
        or_throw(select({address("www.test", "10.9.9.9"), address("www.test", "0.0.0.0"),
                         address("www.test", "169.254.169.254"), address("www.test", "127.0.0.1"),
                         address("www.test", "192.0.2.1"), address("www.test", "10.20.0.1")}));
    EXPECT_EQ(got.withheld, 4u);
    EXPECT_EQ(got.addresses.size(), 2u);
    EXPECT_EQ(got.records.size(), 2u);
}

TEST(DnsAnswers, AnAliasToAPrivateAddressGivesNothing) {
    const Selection got = or_throw(select({alias("www.test", "in.test"), address("in.test", "192.168.0.1")}));
    EXPECT_EQ(got.withheld, 1u);
    EXPECT_TRUE(got.addresses.empty());
}

TEST(DnsAnswers, AnAliasToANameThatIsNeverAskedForGivesNothing) {
    for (const char* target : {"metadata.google.internal", "METADATA.goog", "localhost", "oyat.internal"}) {
        const Selection got = or_throw(
            select({alias("www.test", "in.test"), alias("in.test", target), address(target, "192.0.2.1")}));
        EXPECT_EQ(got.withheld, 1u) << target;
        EXPECT_TRUE(got.records.empty()) << target;
        EXPECT_TRUE(got.addresses.empty()) << target;
    }
}

TEST(DnsAnswers, ClampLifetimes) {
    const Selection got =
        or_throw(select({address("www.test", "192.0.2.1", 0), address("www.test", "192.0.2.2", 86400)}));
    EXPECT_EQ(got.records[0].ttl, 30u);
    EXPECT_EQ(got.records[1].ttl, 300u);
}

TEST(DnsAnswers, RefuseEndlessAliases) {
    EXPECT_FALSE(select({alias("www.test", "www.test")}));
    EXPECT_FALSE(select({alias("www.test", "a.test"), alias("a.test", "www.test")}));
}

TEST(DnsAnswers, AreBounded) {
    std::vector<Record> many;
    for (int i = 0; i < 250; ++i) many.push_back(address("www.test", "192.0.2." + std::to_string(i)));
    EXPECT_EQ(or_throw(select(many)).records.size(), 64u);
}

TEST(DnsAnswers, MustAnswerTheQuestionThatWasAsked) {
    const Question asked{.name = name("www.test"), .type = Type::a};
    const Question other{.name = name("evil.test"), .type = Type::a};
    EXPECT_FALSE(select_answers(asked, Reply{.question = other}, destinations()));
}

}  // namespace
}  // namespace oyat::egress::dns
