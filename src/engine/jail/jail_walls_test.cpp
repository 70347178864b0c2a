#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>

#include "engine/jail/test_jail.hpp"

// What can't be done from inside, and can't be seen.
namespace oyat::jail::test {
namespace {

const std::string kDenied = std::strerror(EPERM);
const std::string kReadOnly = std::strerror(EROFS);

TEST_F(JailTest, LeavesNothingOpenButTheListenerAndTheGroup) {
    // 5 or 4 is the connection of the question itself.
    EXPECT_EQ(ask("descriptors"), group_->tree_fd() ? "0 1 2 3 4 5 " : "0 1 2 3 4 ");
}

TEST_F(JailTest, KeepsThirteenCapabilitiesAndNoMore) {
    EXPECT_EQ(ask("capabilities"), "00000000a00425fb");
}

TEST_F(JailTest, ShowsNoPathOfTheHost) {
    EXPECT_FALSE(ask("mounts").contains(dir_));
    EXPECT_EQ(ask("exe"), "/memfd:oyat-agent (deleted)");
    const std::string groups = ask("cgroup");
    EXPECT_FALSE(groups.contains("oyat")) << groups;
    EXPECT_FALSE(groups.contains("..")) << groups;
}

TEST_F(JailTest, CanWriteToItsOwnFilesOnly) {
    EXPECT_EQ(ask("write-root"), "done");
    EXPECT_TRUE(std::filesystem::exists(dir_ + "/box/u/written"));
    EXPECT_EQ(ask("write-null"), "done");
    EXPECT_EQ(ask("write-shm"), "done");
    EXPECT_EQ(ask("pty"), "done");
    EXPECT_EQ(ask("write-dev"), kReadOnly);
    EXPECT_NE(ask("overwrite-exe"), "done");
}

TEST_F(JailTest, CanNeitherMountNorMakeNamespacesOrNodes) {
    for (const char* attempt : {"mount", "umount", "unshare", "mknod", "clone3-net", "set-host-name"}) {
        EXPECT_EQ(ask(attempt), kDenied) << attempt;
    }
    EXPECT_EQ(ask("clone3-user"), std::strerror(ENOSPC));
    EXPECT_EQ(ask("clone3-plain"), "done");
    EXPECT_NE(ask("raise-namespaces"), "done");
}

TEST_F(JailTest, CanNotReachTheKernelsOwnFiles) {
    EXPECT_EQ(ask("writable"), "");
    EXPECT_NE(ask("kcore"), "done");
    EXPECT_NE(ask("sysrq"), "done");
}

TEST_F(JailTest, SeesNoControlGroupButItsOwn) {
    EXPECT_EQ(ask("foreign-groups"), "");
}

TEST_F(JailTest, IsNotToldHowTheHostWasBooted) {
    EXPECT_EQ(ask("kernel-command"), "");
}

TEST_F(JailTest, StaysInsideADoubleChroot) {
    EXPECT_EQ(ask("double-chroot"), "inside");
}

TEST_F(JailTest, OpensOrdinarySocketsAndNoOthers) {
    EXPECT_EQ(ask("inet"), "done");
    EXPECT_EQ(ask("vsock"), std::strerror(EAFNOSUPPORT));
}

}  // namespace
}  // namespace oyat::jail::test
