#include "packages/listing.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"

namespace oyat::packages {
namespace {

TEST(PackageListing, IsReadAsItWasWritten) {
    Listing listing{.packages = {{Ecosystem::npm, "@a/b", "1.0.0", "app/node_modules/@a/b"},
                                 {Ecosystem::go, "golang.org/x/text", "v0.3.0", ""}},
                    .complete = false,
                    .odd = 3};
    const Listing again = or_throw(read_listing(to_text(listing)));
    EXPECT_EQ(again.packages, listing.packages);
    EXPECT_FALSE(again.complete);
    EXPECT_EQ(again.odd, 3u);
    EXPECT_TRUE(or_throw(read_listing(to_text(Listing{}))).packages.empty());
}

TEST(PackageListing, BelievesNothingThatIsNotPlain) {
    for (const char* text :
         {"", "complete", "complete\t0", "whole\t0\n", "complete\tx\n", "complete\t0\nnpm\ta\t1\n",
          "complete\t0\nnpm\ta\t1\tp\tq\n", "complete\t0\nnpm\ta\x1b\t1\tp\n", "complete\t0\nruby\ta\t1\tp\n",
          "complete\t0\nnpm\ta\t1\tp"}) {
        EXPECT_FALSE(read_listing(text)) << text;
    }
}

TEST(PackageListing, WhatDoesNotFitIsLeftOutAndSaidSo) {
    Listing listing;
    for (std::size_t i = 0; i < Listing::kMaxPackages; ++i)
        listing.packages.push_back({Ecosystem::npm, std::string(200, 'a'), "1", std::string(400, 'p')});
    const std::string text = to_text(listing);
    EXPECT_LE(text.size(), Listing::kMaxBytes);
    EXPECT_FALSE(or_throw(read_listing(text)).complete);
}

}  // namespace
}  // namespace oyat::packages
