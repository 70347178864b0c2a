#include "engine/jail/jail.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>

#include "engine/jail/test_jail.hpp"

// How a jail comes up, and what it knows of itself.
namespace oyat::jail::test {
namespace {

TEST_F(JailTest, RunsTheAgentAsRootAndPidOne) {
    EXPECT_EQ(ask("ids"), "0 0 1");
}

TEST_F(JailTest, BearsItsIdAsHostName) {
    EXPECT_EQ(ask("host-name"), id_ + "\n");
    EXPECT_TRUE(ask("hosts").contains("127.0.1.1 " + id_ + "\n10.0.0.9 mirror\n"));
}

TEST_F(JailTest, StoresFilesWithPlainIds) {
    ASSERT_EQ(ask("write-root"), "done");
    struct stat status{};
    ASSERT_EQ(::stat((dir_ + "/box/u/written").c_str(), &status), 0);
    EXPECT_EQ(status.st_uid, 0U);
}

TEST_F(JailTest, SeesItsOwnSizeAndAge) {
    EXPECT_TRUE(ask("meminfo").starts_with("MemTotal:         262144 kB\n")) << ask("meminfo");
    EXPECT_EQ(ask("cpus-online"), "1");
    EXPECT_EQ(ask("cpus-allowed"), "1");
    if (::access("/proc/self/ns/time", F_OK) == 0) EXPECT_LT(std::stod(ask("uptime")), 60);
}

TEST_F(JailTest, HasAnIdOfItsOwnStart) {
    std::ifstream file{"/proc/sys/kernel/random/boot_id"};
    std::string of_the_host;
    std::getline(file, of_the_host);
    EXPECT_EQ(ask("boot-id").size(), of_the_host.size() + 1);
    EXPECT_NE(ask("boot-id"), of_the_host + "\n");
    EXPECT_EQ(ask("boot-id"), ask("boot-id"));
}

TEST_F(JailTest, IsKnownByPidAndStartTimeTogether) {
    EXPECT_TRUE(engine::find_process(process_.pid, process_.start_ticks));
    EXPECT_FALSE(engine::find_process(process_.pid, process_.start_ticks + 1));
    EXPECT_FALSE(engine::find_process(1, 0));
}

TEST_F(JailTest, ReportsTheStepThatFailed) {
    const Fd not_a_mount{::open("/dev/null", O_RDONLY | O_CLOEXEC)};
    const Parts parts{.id = "ibroken",
                      .range = world_->ranges.take(),
                      .root = not_a_mount.get(),
                      .netns = world_->network.fd(),
                      .listener = not_a_mount.get(),
                      .group = &*group_,
                      .open_files = 100};
    try {
        (void)world_->launcher.start(parts);
        FAIL() << "started";
    } catch (const Error& error) {
        EXPECT_TRUE(error.message().starts_with("move the root into place: ")) << error.message();
    }
    world_->ranges.give_back(parts.range);
}

}  // namespace
}  // namespace oyat::jail::test
