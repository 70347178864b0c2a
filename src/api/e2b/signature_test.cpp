#include "api/e2b/signature.hpp"

#include <gtest/gtest.h>

namespace oyat::e2b {
namespace {

constexpr std::string_view kToken = "tok";
const WallTime kNow = from_unix_millis(1'796'000'000'000);

SignedLink link(std::string path, std::string_view operation, std::string user,
                std::optional<std::string> expiry) {
    SignedLink link{std::move(path), operation, std::move(user), "", std::move(expiry)};
    link.signature = sign(link, kToken);
    return link;
}

TEST(Signature, IsTheOneThatThePublishedClientsMake) {
    EXPECT_EQ(link("/a.txt", "read", "", "1796017451").signature,
              "v1_6wqqMpudQvHoFi8NjXjX3fIjP3qBRS1MY9b6mCgqwdI");
    SignedLink other{"hello.txt", "read", "user", "", std::nullopt};
    EXPECT_EQ(sign(other, "0tQG31xiMp0IOQfaz9dcwi72L1CPo8e0"),
              "v1_gUtH/s9YCJWgCizjfUxuWfhFE4QSydOWEIIvfLwDr6E");
}

TEST(Signature, HoldsForExactlyWhatWasSigned) {
    const SignedLink good = link("/a/b", "read", "root", "1796017451");
    EXPECT_EQ(judge(good, kToken, kNow), LinkVerdict::good);

    SignedLink other = good;
    other.path = "/a/../a/b";
    EXPECT_EQ(judge(other, kToken, kNow), LinkVerdict::wrong);
    other = good;
    other.operation = "write";
    EXPECT_EQ(judge(other, kToken, kNow), LinkVerdict::wrong);
    other = good;
    other.user = "";
    EXPECT_EQ(judge(other, kToken, kNow), LinkVerdict::wrong);
    other = good;
    other.expiry = "1796017452";
    EXPECT_EQ(judge(other, kToken, kNow), LinkVerdict::wrong);
    other.expiry.reset();
    EXPECT_EQ(judge(other, kToken, kNow), LinkVerdict::wrong);
    EXPECT_EQ(judge(good, "tok2", kNow), LinkVerdict::wrong);
}

TEST(Signature, ExpiresAtItsSecond) {
    EXPECT_EQ(judge(link("/a", "read", "", "1796000000"), kToken, kNow), LinkVerdict::good);
    EXPECT_EQ(judge(link("/a", "read", "", "1795999999"), kToken, kNow), LinkVerdict::expired);
    EXPECT_EQ(judge(link("/a", "read", "", "soon"), kToken, kNow), LinkVerdict::expired);
    EXPECT_EQ(judge(link("/a", "read", "", "99999999999999999999"), kToken, kNow), LinkVerdict::expired);
}

TEST(Signature, AnExpiredForgeryIsAForgery) {
    SignedLink forged = link("/a", "read", "", "1");
    forged.signature.back() = forged.signature.back() == 'A' ? 'B' : 'A';
    EXPECT_EQ(judge(forged, kToken, kNow), LinkVerdict::wrong);
    forged.signature.clear();
    EXPECT_EQ(judge(forged, kToken, kNow), LinkVerdict::missing);
}

}  // namespace
}  // namespace oyat::e2b
