#include "policy/names.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"

namespace oyat::policy {
namespace {

using namespace std::string_view_literals;

TEST(HostNames, HaveOneSpelling) {
    EXPECT_EQ(or_throw(canonical_host("A.Test.")), "a.test");
    EXPECT_EQ(or_throw(canonical_host("xn--bcher-kva.example")), "xn--bcher-kva.example");
    for (const std::string_view bad :
         {""sv, "."sv, "a..test"sv, ".a.test"sv, "a.test.."sv, "a b.test"sv, "a.test\0.evil"sv,
          "b\xc3\xbc"
          "cher.example"sv,
          "a.test:443"sv, "user@a.test"sv, "a%2etest"sv, "a\\test"sv, "[::1]"sv}) {
        EXPECT_FALSE(canonical_host(bad)) << bad;
    }
    EXPECT_FALSE(canonical_host(std::string(64, 'a') + ".test"));
}

TEST(HostNames, AnAddressInAnySpellingIsNone) {  // threats E-07
    for (const std::string_view address :
         {"127.0.0.1", "0x7f.1", "017700000001", "2130706433", "1", "0x7f000001", "a.0x7f", "127.1."}) {
        EXPECT_FALSE(canonical_host(address)) << address;
    }
}

TEST(HostPattern, StarsStandForNamesBelow) {
    const HostPattern below = or_throw(HostPattern::parse("*.a.test"));
    EXPECT_TRUE(below.matches("x.a.test"));
    EXPECT_TRUE(below.matches("x.y.a.test"));
    EXPECT_FALSE(below.matches("a.test"));
    EXPECT_FALSE(below.matches("xa.test"));
    EXPECT_FALSE(below.matches(".a.test"));
    const HostPattern all = or_throw(HostPattern::parse("**.a.test"));
    EXPECT_TRUE(all.matches("a.test"));
    EXPECT_TRUE(all.matches("x.a.test"));
    EXPECT_TRUE(or_throw(HostPattern::parse("*")).matches("b.test"));
    EXPECT_TRUE(or_throw(HostPattern::parse("A.Test")).matches("a.test"));
    for (const std::string_view bad : {"", "**", "a.*.test", "*a.test", "*.", "*.*.a.test"})
        EXPECT_FALSE(HostPattern::parse(bad)) << bad;
}

}  // namespace
}  // namespace oyat::policy
