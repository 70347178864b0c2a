#include "cli/path_below.hpp"

#include <gtest/gtest.h>

namespace oyat::cli {
namespace {

TEST(PathBelow, IsWhatFollowsTheRoot) {
    EXPECT_EQ(path_below("/home/user", "/home/user/a/b.txt"), "a/b.txt");
    EXPECT_EQ(path_below("/", "/etc/motd"), "etc/motd");
    EXPECT_EQ(path_below("/a", "/a/..b"), "..b");
}

TEST(PathBelow, NothingLeadsOut) {
    for (const char* path :
         {"/home/user", "/home/user/", "/home/user/../x", "/home/user/a/../../x", "/home/user/./x",
          "/home/user//etc/passwd", "/home/username/x", "/etc/passwd", "x", "", "../x"}) {
        EXPECT_FALSE(path_below("/home/user", path)) << path;
    }
}

}  // namespace
}  // namespace oyat::cli
