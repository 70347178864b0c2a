#include "masking/encodings.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace oyat::masking {
namespace {

bool finds(std::string_view value, std::string_view shown) {
    return std::ranges::any_of(encodings_of(value), [&](const std::string& each) {
        return shown.find(each) != std::string_view::npos;
    });
}

TEST(Encodings, FindTheValueInWhatProgramsMakeOfIt) {
    constexpr std::string_view kValue = "s3cr/t+<\"p\\w&d>";
    for (const char* shown : {
             "s3cr/t+<\"p\\w&d>",                              // as it is
             "czNjci90KzwicFx3JmQ+",                           // base64
             "czNjci90KzwicFx3JmQ-",                           // base64url
             "dXNlcjpzM2NyL3QrPCJwXHcmZD4=",                   // base64 of user:VALUE
             "YnViOnMzY3IvdCs8InBcdyZkPg==",                   // base64 of bub:VALUE
             "bWU6czNjci90KzwicFx3JmQ+",                       // base64 of me:VALUE
             "s3cr%2Ft%2B%3C%22p%5Cw%26d%3E",                  // percent, as curl writes it
             "s3cr%2ft%2b%3c%22p%5cw%26d%3e",                  // in lower case
             "s3cr/t%2B%3C%22p%5Cw%26d%3E",                    // Python's quote()
             "%73%33%63%72%2F%74%2B%3C%22%70%5C%77%26%64%3E",  // every byte
             "s3cr/t+<\\\"p\\\\w&d>",                          // JSON
             "s3cr\\/t+<\\\"p\\\\w&d>",                        // JSON with the slash escaped
             "s3cr/t+\\u003c\\\"p\\\\w\\u0026d\\u003e",        // JSON as Go writes it
             "733363722f742b3c2270"
             "5c7726643e",  // hex
             "733363722F742B3C2270"
             "5C7726643E",  // in upper case
         }) {
        EXPECT_TRUE(finds(kValue, shown)) << shown;
    }
}

TEST(Encodings, OfAFormWriteABlankAsPlus) {
    EXPECT_TRUE(finds("correct horse+1", "correct+horse%2B1"));
}

TEST(Encodings, LeaveAwayTheFinalNewlineAndKnowItToo) {
    EXPECT_TRUE(finds("0123456789\n", "0123456789"));
    EXPECT_TRUE(finds("0123456789\n", "0123456789\\n"));
}

TEST(Encodings, KnowEachLongLineOfAKey) {
    constexpr std::string_view kKey = "-----BEGIN K-----\r\nMIIEvQIBADANBgkq\r\nshort\r\n-----END K-----\n";
    EXPECT_TRUE(finds(kKey, "x MIIEvQIBADANBgkq y"));
    EXPECT_FALSE(finds(kKey, "a short word"));
}

TEST(Encodings, OfAShortValueAreNoneSinceItWouldBeFoundEverywhere) {
    EXPECT_TRUE(encodings_of("1234567").empty());
    EXPECT_TRUE(encodings_of("1234567\n").empty());
    EXPECT_TRUE(encodings_of("").empty());
    EXPECT_FALSE(encodings_of("12345678").empty());
}

TEST(Encodings, AreEachOnceAndNoneIsShort) {
    for (const char* value : {"12345678", "abcdefgh\n", "a/b+c=d&e f", "\x01\x02\x03\x04\x05\x06\x07\x08"}) {
        auto shapes = encodings_of(value);
        for (const std::string& each : shapes) EXPECT_GE(each.size(), 8u) << value;
        std::ranges::sort(shapes);
        EXPECT_TRUE(std::ranges::adjacent_find(shapes) == shapes.end()) << value;
    }
}

}  // namespace
}  // namespace oyat::masking
