#include "agent/watch_tree.hpp"

#include <gtest/gtest.h>

#include <string>

namespace oyat::agent {
namespace {

TEST(WatchTree, ARenameOfADirectoryIsOneOfAllBelowIt) {
    WatchTree tree;
    tree.put(1, WatchTree::kNoParent, "");
    tree.put(2, 1, "a");
    tree.put(3, 2, "b");
    EXPECT_EQ(tree.path(3), "a/b");
    tree.put(2, 1, "c");
    EXPECT_EQ(tree.path(3), "c/b");
    EXPECT_EQ(tree.child(1, "a"), std::nullopt);
    EXPECT_EQ(tree.child(1, "c"), 2);
}

// "mv b/a . ; mv b a/b" with the first of the two lost: once an endless path.
TEST(WatchTree, ADirectoryIsNeverBelowItself) {
    WatchTree tree;
    tree.put(1, WatchTree::kNoParent, "");
    tree.put(2, 1, "b");
    tree.put(3, 2, "a");
    tree.put(2, 3, "b");
    EXPECT_FALSE(tree.contains(2));
    EXPECT_EQ(tree.path(3), "a");
    tree.put(3, 1, "a");
    tree.put(2, 3, "b");
    EXPECT_EQ(tree.path(2), "a/b");
}

TEST(WatchTree, MayBeOfAnyDepth) {
    constexpr int kDepth = 400'000;
    WatchTree tree;
    for (int watch = kDepth; watch > 0; --watch) tree.put(watch, watch - 1, "d");
    tree.put(0, WatchTree::kNoParent, "");
    EXPECT_EQ(tree.path(kDepth).size(), 2u * kDepth - 1);
}

}  // namespace
}  // namespace oyat::agent
