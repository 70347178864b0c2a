#include "layers/tree_copy.hpp"

#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>

#include "layers/directory.hpp"
#include "layers/test_machine.hpp"

namespace oyat::layers {
namespace {

class TreeCopyTest : public MachineTest {
protected:
    void SetUp() override {
        MachineTest::SetUp();
        if (IsSkipped()) return;
        from_ = make_directory(AT_FDCWD, dir_ + "/from", 0755);
        to_ = make_directory(AT_FDCWD, dir_ + "/to", 0755);
    }
    [[nodiscard]] struct stat facts(const char* path) const {
        struct stat found{};
        EXPECT_EQ(::fstatat(to_.get(), path, &found, AT_SYMLINK_NOFOLLOW), 0) << path;
        return found;
    }
    [[nodiscard]] std::string source(const char* path) const { return dir_ + "/from/" + path; }

    Fd from_;
    Fd to_;
};

TEST_F(TreeCopyTest, KeepsOwnersModesAndTimes) {
    make_layer("from/a", "tool", "#!/bin/sh\n");
    ASSERT_EQ(::chown(source("a/tool").c_str(), 1000, 1001), 0);
    ASSERT_EQ(::chmod(source("a/tool").c_str(), 04750), 0);
    ASSERT_EQ(::chmod(source("a").c_str(), 01777), 0);
    const std::array<timespec, 2> times{timespec{1, 2}, timespec{3, 4}};
    ASSERT_EQ(::utimensat(AT_FDCWD, source("a/tool").c_str(), times.data(), 0), 0);
    ASSERT_EQ(::utimensat(AT_FDCWD, source("a").c_str(), times.data(), 0), 0);
    copy_tree(from_.get(), to_.get());
    EXPECT_EQ(text_of(to_.get(), "a/tool"), "#!/bin/sh\n");
    EXPECT_EQ(facts("a/tool").st_uid, 1000u);
    EXPECT_EQ(facts("a/tool").st_gid, 1001u);
    EXPECT_EQ(facts("a/tool").st_mode, mode_t{S_IFREG | 04750});
    EXPECT_EQ(facts("a/tool").st_mtim.tv_sec, 3);
    EXPECT_EQ(facts("a").st_mode, mode_t{S_IFDIR | 01777});
    EXPECT_EQ(facts("a").st_mtim.tv_nsec, 4);
}

TEST_F(TreeCopyTest, KeepsWhatAnOverlayWritesDown) {
    ASSERT_EQ(::mknodat(from_.get(), "gone", S_IFCHR | 0600, makedev(0, 0)), 0);
    make_layer("from/opaque", "file", "x");
    ASSERT_EQ(::setxattr(source("opaque").c_str(), "trusted.overlay.opaque", "y", 1, 0), 0);
    copy_tree(from_.get(), to_.get());
    EXPECT_TRUE(S_ISCHR(facts("gone").st_mode));
    EXPECT_EQ(facts("gone").st_rdev, makedev(0, 0));
    char value = 0;
    EXPECT_EQ(::getxattr((dir_ + "/to/opaque").c_str(), "trusted.overlay.opaque", &value, 1), 1);
    EXPECT_EQ(value, 'y');
}

TEST_F(TreeCopyTest, KeepsLinksOfBothKindsAndFollowsNone) {
    make_layer("from/a", "one", "text");
    make_layer("from/b", "other", "");
    ASSERT_EQ(::linkat(from_.get(), "a/one", from_.get(), "b/two", 0), 0);
    ASSERT_EQ(::symlinkat("/etc", from_.get(), "etc"), 0);
    copy_tree(from_.get(), to_.get());
    EXPECT_EQ(facts("a/one").st_ino, facts("b/two").st_ino);
    EXPECT_TRUE(S_ISLNK(facts("etc").st_mode));
}

TEST_F(TreeCopyTest, KeepsHoles) {
    const Fd file{::openat(from_.get(), "sparse", O_WRONLY | O_CREAT | O_CLOEXEC, 0644)};
    ASSERT_EQ(::pwrite(file.get(), "end", 3, 64 << 20), 3);
    copy_tree(from_.get(), to_.get());
    EXPECT_EQ(facts("sparse").st_size, (64 << 20) + 3);
    EXPECT_LT(facts("sparse").st_blocks, 1024);
}

TEST_F(TreeCopyTest, RefusesATreeThatIsTooDeep) {
    Fd at{::fcntl(from_.get(), F_DUPFD_CLOEXEC, 0)};
    for (int i = 0; i < 2001; ++i) at = make_directory(at.get(), "d", 0700);
    at.reset();
    EXPECT_THROW(copy_tree(from_.get(), to_.get()), Error);
    remove_tree(from_.get(), "d");
    remove_tree(to_.get(), "d");
}

}  // namespace
}  // namespace oyat::layers
