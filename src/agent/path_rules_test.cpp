#include "agent/path_rules.hpp"

#include <gtest/gtest.h>

namespace oyat::agent {
namespace {

std::string resolved(std::string_view path, Dots dots = Dots::by_name) {
    const Answer<std::string> answer = resolve_path(path, "/home/user", "/work", dots);
    return answer ? *answer : "refused: " + answer.error().message;
}

TEST(PathRules, EmptyIsTheDefaultDirectory) {
    EXPECT_EQ(resolved(""), "/work");
}

TEST(PathRules, TildeIsTheHome) {
    EXPECT_EQ(resolved("~"), "/home/user");
    EXPECT_EQ(resolved("~/"), "/home/user");
    EXPECT_EQ(resolved("~/a/b"), "/home/user/a/b");
    EXPECT_TRUE(resolved("~other/a").starts_with("refused"));
}

TEST(PathRules, RelativePathsStandUnderTheHomeAndNotTheDefaultDirectory) {
    EXPECT_EQ(resolved("a"), "/home/user/a");
    EXPECT_EQ(resolved("./a/~x"), "/home/user/a/~x");
}

TEST(PathRules, CleansWhatMeansNothing) {
    EXPECT_EQ(resolved("/"), "/");
    EXPECT_EQ(resolved("//a///b/./c/"), "/a/b/c");
}

TEST(PathRules, DotsGoUpByNameAndStopAtTheRoot) {
    EXPECT_EQ(resolved("/a/b/../c"), "/a/c");
    EXPECT_EQ(resolved("/../../etc"), "/etc");
    EXPECT_EQ(resolved("../.."), "/");
    EXPECT_EQ(resolved("/.../..x"), "/.../..x");
}

TEST(PathRules, OrAreLeftToTheKernel) {
    EXPECT_EQ(resolved("/a/../b", Dots::by_links), "/a/../b");
}

TEST(PathRules, RefusesWhatNoKernelWouldTake) {
    EXPECT_TRUE(resolved(std::string_view("/a\0b", 4)).starts_with("refused: path contains a NUL"));
    EXPECT_TRUE(resolved("/" + std::string(256, 'x')).starts_with("refused: name is longer than 255 bytes"));
    EXPECT_EQ(resolved("/" + std::string(255, 'x')).size(), 256u);
    std::string deep;
    for (int i = 0; i < 2048; ++i) deep += "/a";
    EXPECT_TRUE(resolved(deep).starts_with("refused: path is longer than 4095 bytes"));
}

}  // namespace
}  // namespace oyat::agent
