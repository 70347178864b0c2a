#include "agent/kept_output.hpp"

#include <gtest/gtest.h>

namespace oyat::agent {
namespace {

TEST(KeptOutput, WhatWasSentAndNotAcknowledgedIsSentAgain) {
    KeptOutput kept;
    kept.append("abcdef");
    kept.mark_sent(4);
    kept.acknowledge(2);
    EXPECT_EQ(kept.unsent(), "ef");
    kept.rewind();
    EXPECT_EQ(kept.unsent(), "cdef");
    kept.append("g");
    EXPECT_EQ(kept.unsent(), "cdefg");
}

TEST(KeptOutput, TheOldestGoesFirst) {
    KeptOutput kept;
    kept.append("0123456789");
    kept.drop_oldest(7);
    EXPECT_EQ(kept.unsent(), "789");
    EXPECT_EQ(kept.size(), 3u);
}

TEST(KeptOutput, StaysWholeThroughManyRounds) {
    KeptOutput kept;
    std::string expected;
    std::string got;
    for (int i = 0; i < 10'000; ++i) {
        const std::string piece = std::to_string(i);
        kept.append(piece);
        expected += piece;
        if (i % 7 != 0) continue;
        got += kept.unsent();
        const std::size_t sent = kept.unsent().size();
        kept.mark_sent(sent);
        kept.acknowledge(sent);
        EXPECT_EQ(kept.size(), 0u);
    }
    got += kept.unsent();
    EXPECT_EQ(got, expected);
}

}  // namespace
}  // namespace oyat::agent
