#include "egress/name_rules.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"

namespace oyat::egress {
namespace {

using Action = NameVerdict::Action;
constexpr std::string_view kOwn = "i0123456789abcdefghij";

Destinations destinations() {
    return Destinations{or_throw(OperatorOpenings::parse({"10.20.0.0/16"}, {}))};
}

dns::Query query(std::string_view name, dns::Type type) {
    dns::Query query;
    query.question = {.name = or_throw(dns::to_wire(name)), .type = type};
    return query;
}

Action action(std::string_view name, dns::Type type, bool internet = true) {
    policy::Policy policy;
    if (!internet) policy.layers.push_back({policy::Layer::sandbox, std::make_shared<policy::Document>()});
    return judge_name(query(name, type), kOwn, policy, destinations(), WallTime{}).action;
}

TEST(NameRules, EachTypeHasItsTreatment) {
    using dns::Type;
    for (const Type type : {Type::a, Type::cname, Type::mx, Type::txt, Type::srv, Type::ptr}) {
        EXPECT_EQ(action("a.test", type), Action::ask) << dns::to_string(type);
    }
    for (const Type type : {Type::aaaa, Type::https, Type::svcb}) {
        EXPECT_EQ(action("a.test", type), Action::empty) << dns::to_string(type);
    }
    for (const Type type : {Type::any, Type::null, Type::axfr, Type::ns, static_cast<Type>(9999)}) {
        EXPECT_EQ(action("a.test", type), Action::refused) << dns::to_string(type);
    }
}

TEST(NameRules, WithoutInternetOnlyOwnNamesAreKnown) {
    EXPECT_EQ(action("a.test", dns::Type::a, false), Action::blocked);
    EXPECT_EQ(action("a.test", dns::Type::aaaa, false), Action::blocked);
    for (const std::string_view own :
         {std::string_view{"localhost"}, std::string_view{"x.localhost"}, kOwn}) {
        EXPECT_EQ(action(own, dns::Type::a, false), Action::own) << own;
        EXPECT_EQ(action(own, dns::Type::aaaa, false), Action::empty) << own;
    }
}

TEST(NameRules, NoSandboxLearnsWhatAPrivateAddressIsCalled) {
    using dns::Type;
    EXPECT_EQ(action("9.9.9.10.in-addr.arpa", Type::ptr), Action::blocked);
    EXPECT_EQ(action("254.169.254.169.in-addr.arpa", Type::ptr), Action::blocked);
    EXPECT_EQ(action("10.in-addr.arpa", Type::ptr), Action::blocked);
    EXPECT_EQ(action("1.0.20.10.in-addr.arpa", Type::ptr), Action::ask);  // opened by the operator
    EXPECT_EQ(action("8.8.8.8.in-addr.arpa", Type::ptr), Action::ask);
    EXPECT_EQ(action("1.0.0.0.ip6.arpa", Type::ptr), Action::blocked);
}

TEST(NameRules, RefusesWhatItWouldNotUnderstand) {
    dns::Query odd = query("a.test", dns::Type::a);
    odd.question.name = std::string{"\3a\nb\0", 5};
    EXPECT_EQ(judge_name(odd, kOwn, {}, destinations(), {}).action, Action::refused);
    dns::Query chaos = query("version.bind", dns::Type::txt);
    chaos.question.klass = 3;
    EXPECT_EQ(judge_name(chaos, kOwn, {}, destinations(), {}).action, Action::refused);
    dns::Query update = query("a.test", dns::Type::a);
    update.opcode = 5;
    EXPECT_EQ(judge_name(update, kOwn, {}, destinations(), {}).action, Action::unknown_operation);
    std::string tunnel;
    for (int i = 0; i < 3; ++i) tunnel += std::string(50, 'a') + ".";
    EXPECT_EQ(action(tunnel + "test", dns::Type::a), Action::refused);
}

TEST(NameRules, MetadataNamesAreNotAskedFor) {
    EXPECT_EQ(action("metadata.google.internal", dns::Type::a), Action::blocked);
    EXPECT_EQ(action("METADATA.google.internal", dns::Type::a), Action::blocked);
    EXPECT_EQ(action("www.metadata.google.internal", dns::Type::a), Action::blocked);
    EXPECT_EQ(action("notmetadata.goog", dns::Type::a), Action::ask);
}

TEST(NameRules, NobodyOutsideAnswersForOyatItself) {
    for (const char* name : {"oyat.internal", "OYAT.internal", "api.oyat.internal"}) {
        EXPECT_EQ(action(name, dns::Type::a), Action::blocked) << name;
    }
    EXPECT_EQ(action("notoyat.internal", dns::Type::a), Action::ask);
}

TEST(NameRules, OwnNamesAreNotAskable) {
    for (const char* name : {"", "localhost", "a.localhost"}) {
        EXPECT_FALSE(is_askable(name)) << name;
    }
    for (const char* name : {"a.test", "notlocalhost", "1.2.3.4.in-addr.arpa", "localhost.test"}) {
        EXPECT_TRUE(is_askable(name)) << name;
    }
}

}  // namespace
}  // namespace oyat::egress
