#include "policy/paths.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"

namespace oyat::policy {
namespace {

using namespace std::string_view_literals;

bool glob(std::string_view pattern, std::string_view text) {
    return or_throw(Glob::parse(pattern)).matches(text);
}

TEST(Glob, OneStarStaysInItsSegment) {
    EXPECT_TRUE(glob("/v2/*/items", "/v2/7/items"));
    EXPECT_FALSE(glob("/v2/*/items", "/v2/7/8/items"));
    EXPECT_TRUE(glob("/v2/**", "/v2/7/8/items"));
    EXPECT_TRUE(glob("/v2/**", "/v2/"));
    EXPECT_FALSE(glob("/v2/**", "/v2"));
    EXPECT_TRUE(glob("/**/x", "/a/b/x"));
    EXPECT_TRUE(glob("*", ""));
    EXPECT_FALSE(glob("", "a"));
    EXPECT_TRUE(glob("a*b*c", "aXbYbZc"));
}

TEST(Glob, ManyStarsTakeNoLonger) {  // threats X-13
    std::string pattern;
    for (int i = 0; i < 120; ++i) pattern += "*a";
    EXPECT_FALSE(glob(pattern, std::string(Glob::kMaxText, 'a') + "b"));
    EXPECT_TRUE(glob(pattern, std::string(Glob::kMaxText, 'a')));
    EXPECT_FALSE(Glob::parse(std::string(256, 'a')));
}

TEST(Glob, LongPatternsMatchAcrossTheWordsOfTheirPlaces) {
    for (const std::size_t size : {1, 62, 63, 64, 65, 127, 128, 129, 191, 192, 253}) {
        const std::string stem(size, 'a');
        EXPECT_TRUE(glob(stem, stem)) << size;
        EXPECT_TRUE(glob(stem + "*", stem + "bc")) << size;
        EXPECT_TRUE(glob(stem + "*", stem)) << size;
        EXPECT_FALSE(glob(stem + "*", stem + "b/c")) << size;
        EXPECT_TRUE(glob(stem + "**", stem + "b/c")) << size;
        EXPECT_FALSE(glob(stem, stem + "a")) << size;
        EXPECT_FALSE(glob(stem + "b", stem)) << size;
        EXPECT_TRUE(glob("*" + stem, "xyz" + stem)) << size;
    }
    EXPECT_TRUE(glob(std::string(255, 'a'), std::string(255, 'a')));
}

TEST(CanonicalTarget, DecodesWhatMeansTheSame) {
    EXPECT_EQ(CanonicalTarget::of("/%61/b?x=%61")->path, "/a/b");
    EXPECT_EQ(CanonicalTarget::of("/%61/b?x=%61")->query, "x=%61");
    EXPECT_EQ(CanonicalTarget::of("/a/./b/../c")->path, "/a/c");
    EXPECT_EQ(CanonicalTarget::of("/a/b/..")->path, "/a/");
    EXPECT_EQ(CanonicalTarget::of("/caf%c3%a9")->path, "/caf%C3%A9");
    EXPECT_EQ(CanonicalTarget::of("/")->path, "/");
}

TEST(CanonicalTarget, RefusesWhatTwoReadersUnderstandDifferently) {  // threats E-12
    for (const std::string_view target :
         {"a"sv,      ""sv,        "http://a.test/"sv, "/a//b"sv,          "/a%2fb"sv, "/a%2Fb"sv,
          "/a%5cb"sv, "/a\\b"sv,   "/%2e%2e/b"sv,      "/..;/b/../../c"sv, "/../b"sv,  "/a%00b"sv,
          "/a%"sv,    "/a%zz"sv,   "/%c0%af"sv,        "/%ed%a0%80"sv,     "/%ff"sv,   "/a b"sv,
          "/a\x7f"sv, "/a%252e"sv, "/a#b"sv,           "/a?b c"sv}) {
        EXPECT_FALSE(CanonicalTarget::of(target)) << target;
    }
}

TEST(PathPattern, CountsTheQueryOnlyWhenItNamesOne) {
    const PathPattern plain = or_throw(PathPattern::parse("/x/*"));
    EXPECT_TRUE(plain.matches(*CanonicalTarget::of("/x/1?anything")));
    const PathPattern git = or_throw(PathPattern::parse("/**/info/refs?service=git-upload-pack"));
    EXPECT_TRUE(git.matches(*CanonicalTarget::of("/acme/shop.git/info/refs?service=git-upload-pack")));
    EXPECT_FALSE(git.matches(*CanonicalTarget::of("/acme/shop.git/info/refs?service=git-receive-pack")));
    EXPECT_FALSE(git.matches(*CanonicalTarget::of("/acme/shop.git/info/refs")));
    EXPECT_FALSE(PathPattern::parse("x"));
}

}  // namespace
}  // namespace oyat::policy
