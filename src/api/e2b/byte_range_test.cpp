#include "api/e2b/byte_range.hpp"

#include <gtest/gtest.h>

#include <string>

namespace oyat::e2b {
namespace {

std::string show(std::string_view field, std::uint64_t size) {
    const RangeAnswer answer = range_for(field, size);
    if (answer.kind == RangeKind::whole) return "whole";
    if (answer.kind == RangeKind::unsatisfiable) return "unsatisfiable";
    return std::to_string(answer.range.first) + "+" + std::to_string(answer.range.length);
}

TEST(ByteRange, IsFittedToTheFile) {
    EXPECT_EQ(show("bytes=0-9", 100), "0+10");
    EXPECT_EQ(show("bytes=90-", 100), "90+10");
    EXPECT_EQ(show("bytes=90-1000", 100), "90+10");
    EXPECT_EQ(show("bytes=-20", 100), "80+20");
    EXPECT_EQ(show("bytes=-200", 100), "0+100");
    EXPECT_EQ(show("bytes=0-0", 100), "0+1");
}

TEST(ByteRange, BehindTheEndIsUnsatisfiable) {
    EXPECT_EQ(show("bytes=100-", 100), "unsatisfiable");
    EXPECT_EQ(show("bytes=-0", 100), "unsatisfiable");
    EXPECT_EQ(show("bytes=0-", 0), "unsatisfiable");
}

TEST(ByteRange, WhatCannotBeReadIsTheWholeFile) {
    for (const char* field : {"", "bytes", "lines=1-2", "bytes=5-2", "bytes=a-b", "bytes=1-2,5-6",
                              "bytes=--5", "bytes=99999999999999999999-"}) {
        EXPECT_EQ(show(field, 100), "whole") << field;
    }
}

}  // namespace
}  // namespace oyat::e2b
