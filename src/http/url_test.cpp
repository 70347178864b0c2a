#include "http/url.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"
#include "http/fields.hpp"

namespace oyat::http {
namespace {

TEST(PercentDecode, UndoesWhatEncodeDid) {
    std::string all;
    for (int c = 0; c < 256; ++c) all.push_back(static_cast<char>(c));
    EXPECT_EQ(or_throw(percent_decode(percent_encode(all))), all);
    EXPECT_EQ(percent_encode("a-b_c.d~/ +"), "a-b_c.d~%2F%20%2B");
}

TEST(PercentDecode, RefusesBrokenEscapes) {
    for (const char* text : {"%", "%1", "a%", "%g0", "%0g", "% 1", "%%41"})
        EXPECT_FALSE(percent_decode(text)) << text;
}

TEST(Query, KeepsOrderAndDecodes) {
    const Query query = or_throw(Query::parse("a=1&b=x%20y&c=p+q&&d&a=2&=e"));
    EXPECT_EQ(query.get("a"), "1");
    EXPECT_EQ(query.get("b"), "x y");
    EXPECT_EQ(query.get("c"), "p q");
    EXPECT_EQ(query.get("d"), "");
    EXPECT_EQ(query.get("missing"), std::nullopt);
    EXPECT_EQ(query.all().size(), 6u);
    EXPECT_FALSE(Query::parse("a=%"));
    EXPECT_FALSE(Query::parse("%=a"));
}

TEST(Fields, CompareNamesWithoutCase) {
    Fields fields{{"Connection", "close , Upgrade"}, {"X", "1"}, {"connection", "x-y"}};
    EXPECT_EQ(fields.get("x"), "1");
    EXPECT_EQ(fields.count("CONNECTION"), 2u);
    for (const char* token : {"close", "upgrade", "X-Y"})
        EXPECT_TRUE(fields.has_token("Connection", token)) << token;
    for (const char* token : {"clos", "x", ""}) EXPECT_FALSE(fields.has_token("Connection", token)) << token;
    fields.set("CONNECTION", "close");
    EXPECT_EQ(fields.count("connection"), 1u);
    EXPECT_EQ(fields.size(), 2u);
}

}  // namespace
}  // namespace oyat::http
