#include "layers/tree_digest.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "layers/test_machine.hpp"

namespace oyat::layers {
namespace {

TEST(TreeDigest, DoesNotDependOnTimesOrOnHardLinks) {
    if (::geteuid() != 0) GTEST_SKIP() << "reads attributes as root";
    std::string pattern = "/var/tmp/oyat-tree-XXXXXX";
    const std::string dir = ::mkdtemp(pattern.data());
    std::filesystem::create_directories(dir + "/one");
    std::filesystem::create_directories(dir + "/two");
    std::ofstream{dir + "/one/a"} << "x";
    std::filesystem::create_hard_link(dir + "/one/a", dir + "/one/b");
    std::ofstream{dir + "/two/a"} << "x";
    std::ofstream{dir + "/two/b"} << "x";
    std::filesystem::last_write_time(dir + "/two/a", {});
    const Fd one = open_path(dir + "/one");
    const Fd two = open_path(dir + "/two");
    EXPECT_EQ(summarize_tree(one.get()).digest, summarize_tree(two.get()).digest);
    std::filesystem::permissions(dir + "/two/a", std::filesystem::perms::owner_all);
    EXPECT_NE(summarize_tree(one.get()).digest, summarize_tree(two.get()).digest);
    std::filesystem::remove_all(dir);
}

}  // namespace
}  // namespace oyat::layers
