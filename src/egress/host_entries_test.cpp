#include "egress/host_entries.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"

namespace oyat::egress {
namespace {

using dns::Type;

dns::Question question(std::string_view name, Type type = Type::a) {
    return {.name = or_throw(dns::to_wire(name)), .type = type};
}

TEST(HostEntries, AnswerInTheOperatorsOrder) {
    const HostEntries entries = or_throw(HostEntries::parse({{"db.internal", {"10.20.0.6", "10.20.0.5"}}}));
    const auto reply = entries.reply_to(question("DB.internal"), "db.internal");
    ASSERT_TRUE(reply);
    ASSERT_EQ(reply->answers.size(), 2u);
    EXPECT_EQ(reply->answers[0].data, (std::string{"\x0A\x14\x00\x06", 4}));
    EXPECT_EQ(reply->answers[1].data, (std::string{"\x0A\x14\x00\x05", 4}));
}

TEST(HostEntries, HaveOtherTypesOfNoneOfTheirNames) {
    const HostEntries entries = or_throw(HostEntries::parse({{"db.internal", {"10.20.0.5"}}}));
    const auto reply = entries.reply_to(question("db.internal", Type::txt), "db.internal");
    ASSERT_TRUE(reply) << "a resolver outside must not be asked for it";
    EXPECT_EQ(reply->rcode, dns::Rcode::ok);
    EXPECT_TRUE(reply->answers.empty());
}

TEST(HostEntries, AreOfExactNames) {
    const HostEntries entries = or_throw(HostEntries::parse({{"db.internal", {"10.20.0.5"}}}));
    for (const std::string name : {"a.db.internal", "internal", "xdb.internal", ""}) {
        EXPECT_FALSE(entries.reply_to(question(name), name)) << name;
    }
}

TEST(HostEntries, RefuseWhatTheyWouldNotAnswer) {
    for (const char* name : {"", "DB.internal", "db.internal.", "*.internal", "a b", "localhost",
                             "x.localhost", "oyat.internal", "metadata.google.internal"}) {
        EXPECT_FALSE(HostEntries::parse({{name, {"10.20.0.5"}}})) << name;
    }
    for (const char* address : {"", "fd00::1", "10.20.0.0/16", "db2.internal", "0x0a.0.0.1"}) {
        EXPECT_FALSE(HostEntries::parse({{"db.internal", {address}}})) << address;
    }
    EXPECT_FALSE(HostEntries::parse({{"db.internal", {}}}));
    EXPECT_FALSE(HostEntries::parse({{"db.internal", std::vector<std::string>(17, "10.20.0.5")}}));
}

}  // namespace
}  // namespace oyat::egress
