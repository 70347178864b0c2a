#include "layers/archive_rules.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

namespace oyat::layers {
namespace {

TEST(ArchiveRules, PathsAreCleanedOfWhatMeansNothing) {
    EXPECT_EQ(*path_in_root("./usr/bin/"), "usr/bin");
    EXPECT_EQ(*path_in_root("usr//./bin"), "usr/bin");
    EXPECT_EQ(*path_in_root("./"), ".");
    EXPECT_EQ(*path_in_root("."), ".");
    EXPECT_EQ(*path_in_root("..a/b.."), "..a/b..");
}

TEST(ArchiveRules, PathsThatLeaveTheTreeAreRefused) {
    for (const char* path : {"", "/", "/etc/passwd", "..", "../x", "a/../../x", "a/..", "./../x"}) {
        EXPECT_FALSE(path_in_root(path)) << path;
    }
}

TEST(ArchiveRules, PathsThatNoFileSystemTakesAreRefused) {
    EXPECT_FALSE(path_in_root(std::string(256, 'a')));
    EXPECT_TRUE(path_in_root(std::string(255, 'a')));
    EXPECT_FALSE(path_in_root(std::string("a\0b", 3)));
    std::string deep;
    for (int i = 0; i < 201; ++i) deep += "d/";
    EXPECT_FALSE(path_in_root(deep));
    EXPECT_FALSE(path_in_root(std::string(2001, 'a').replace(1, 1999, std::string(1999, '/')) +
                              std::string(3000, '/')));
}

TEST(ArchiveRules, DevicesAndSocketsAreRefused) {
    for (const unsigned mode : {S_IFCHR | 0666U, S_IFBLK | 0600U, S_IFSOCK | 0755U, 0644U}) {
        EXPECT_FALSE(check_type(mode)) << mode;
    }
    for (const unsigned mode : {S_IFREG | 04755U, S_IFDIR | 0755U, S_IFLNK | 0777U, S_IFIFO | 0600U}) {
        EXPECT_TRUE(check_type(mode)) << mode;
    }
}

TEST(ArchiveRules, AttributesThatSteerOverlaysRefuseTheArchive) {
    EXPECT_EQ(fate_of_xattr("trusted.overlay.redirect"), XattrFate::refuse);
    EXPECT_EQ(fate_of_xattr("security.capability"), XattrFate::keep);
    EXPECT_EQ(fate_of_xattr("user.mime_type"), XattrFate::keep);
    EXPECT_EQ(fate_of_xattr("security.selinux"), XattrFate::drop);
    EXPECT_EQ(fate_of_xattr("system.posix_acl_access"), XattrFate::drop);
}

TEST(ArchiveRules, OwnersBeyondTheRangeAreRefused) {
    EXPECT_TRUE(check_owner(0, 65535));
    EXPECT_FALSE(check_owner(65536, 0));
    EXPECT_FALSE(check_owner(0, -1));
}

TEST(ArchiveRules, BombsAreRefusedAndSmallOnesPass) {
    const ArchiveCaps caps;
    EXPECT_TRUE(check_volume(caps, 1, 16 << 20, 100));
    EXPECT_FALSE(check_volume(caps, 1, 100 << 20, 1000));
    EXPECT_TRUE(check_volume(caps, 1, 100 << 20, 1 << 20));
    EXPECT_FALSE(check_volume(caps, 2'000'001, 0, 0));
    EXPECT_FALSE(check_volume(caps, 1, std::uint64_t{33} << 30, std::uint64_t{33} << 30));
}

TEST(ArchiveRules, NamesInMessagesAreHarmless) {
    EXPECT_EQ(printable("a\n\x1b[2J\xff\\"), "a\\x0a\\x1b[2J\\xff\\x5c");
    EXPECT_LE(printable(std::string(5000, 'a')).size(), 203U);
}

}  // namespace
}  // namespace oyat::layers
