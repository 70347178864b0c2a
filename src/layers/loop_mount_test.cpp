#include "layers/loop_mount.hpp"

#include <sched.h>

#include "base/throwing.hpp"
#include "layers/program.hpp"
#include "layers/test_machine.hpp"

namespace oyat::layers {
namespace {

class LoopMountTest : public MachineTest {
protected:
    void SetUp() override {
        MachineTest::SetUp();
        if (IsSkipped()) return;
        const std::string path = dir_ + "/image";
        image_ = Fd{::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)};
        ASSERT_EQ(::ftruncate(image_.get(), 64 << 20), 0);
        run_program({"mkfs.ext4", "-q", "-F", "-b", "4096", path});
    }

    Fd image_;
};

TEST_F(LoopMountTest, TwoMountsOfOneImageAreOneFileSystem) {
    const LoopMount first{image_.get(), "ext4", staging_->mount_point("one")};
    const LoopMount second{image_.get(), "ext4", staging_->mount_point("two")};
    EXPECT_EQ(first.device(), second.device());
    std::ofstream{first.directory() + "/file"} << "x";
    EXPECT_TRUE(std::filesystem::exists(second.directory() + "/file"));
}

TEST_F(LoopMountTest, TheDeviceGoesWithItsLastUser) {
    Fd user;
    {
        const LoopMount mount{image_.get(), "ext4", staging_->mount_point("one")};
        user = open_path(mount.directory());
    }
    EXPECT_TRUE(has_loop_device(image_.get()));  // as while a sandbox lives and its keeper is dead
    user.reset();
    while (has_loop_device(image_.get())) ::sched_yield();
}

TEST_F(LoopMountTest, WhatIsNotAFileSystemIsRefusedAndLeavesNoDevice) {
    ASSERT_EQ(::ftruncate(image_.get(), 0), 0);
    ASSERT_EQ(::ftruncate(image_.get(), 64 << 20), 0);
    EXPECT_THROW((LoopMount{image_.get(), "ext4", staging_->mount_point("one")}), Error);
    while (has_loop_device(image_.get())) ::sched_yield();
}

}  // namespace
}  // namespace oyat::layers
