#include "api/e2b/accepted_encoding.hpp"

#include <gtest/gtest.h>

namespace oyat::e2b {
namespace {

TEST(AcceptedEncoding, OnlyGzipByNameIsAWishForIt) {
    for (const char* text :
         {"gzip", "GZIP", "x-gzip", "gzip;q=1.0", "gzip, identity;q=0", "gzip, deflate;q=0"}) {
        EXPECT_EQ(coding_for(text), ContentCoding::gzip) << text;
    }
}

TEST(AcceptedEncoding, WhatLibrariesSendUnaskedIsNot) {
    for (const char* text : {"", "gzip, deflate", "gzip, deflate, br, zstd", "*", "identity", "br",
                             "gzip;q=0", "gzip, identity", "gzip, *", "deflate"}) {
        EXPECT_EQ(coding_for(text), ContentCoding::identity) << text;
    }
}

TEST(AcceptedEncoding, GzipIsTakenWhereIdentityIsRefused) {
    EXPECT_EQ(coding_for("gzip, deflate, identity;q=0"), ContentCoding::gzip);
    EXPECT_EQ(coding_for("gzip, deflate, *;q=0"), ContentCoding::gzip);
    EXPECT_EQ(coding_for("*, identity;q=0"), ContentCoding::gzip);
}

TEST(AcceptedEncoding, SometimesNothingIsAcceptable) {
    EXPECT_EQ(coding_for("identity;q=0"), ContentCoding::none_acceptable);
    EXPECT_EQ(coding_for("br, *;q=0"), ContentCoding::none_acceptable);
    EXPECT_EQ(coding_for("gzip;q=0, identity;q=0.000"), ContentCoding::none_acceptable);
}

}  // namespace
}  // namespace oyat::e2b
