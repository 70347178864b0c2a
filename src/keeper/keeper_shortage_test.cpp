#include <signal.h>
#include <sys/resource.h>

#include <iterator>

#include "keeper/test_keeper.hpp"

// What happens when an order can't be carried out, or comes at the wrong moment.
namespace oyat::keeper::test {
namespace {

using KeeperShortageTest = KeeperProcessTest;

// Boxes and what belongs to them, of any stage.
std::uint32_t everything_held(Client& oyatd) {
    const wire::KeeperInfo info = *oyatd.ask(info_order()).reply.info;
    std::uint32_t all = 0;
    for (const wire::HeldCounts& each : {info.held, info.pooled}) {
        all += each.sandboxes + each.cgroups + each.processes;
    }
    return all;
}

// One create after another, each allowed one descriptor more, so that each step of it fails once for the want
// of one.
TEST_F(KeeperShortageTest, ACreateThatFailsForWantOfADescriptorLeavesNothing) {
    keeper->start({"--pool=0"});
    Client oyatd = keeper->client();
    while (oyatd.ask(info_order()).reply.info->pooled.netns < 8) ::usleep(10'000);
    // One that works, so that what is made once is there.
    const Answer first = oyatd.ask(create_order(keeper->digest));
    ASSERT_EQ(first.reply.code, 0U) << first.reply.message;
    ASSERT_EQ(oyatd.ask(kill_order(first.reply.created->box.id)).reply.code, 0U);
    while (everything_held(oyatd) != 0) ::usleep(1'000);

    const std::filesystem::directory_iterator open_fds{"/proc/" + std::to_string(keeper->pid) + "/fd"};
    rlimit usual{};
    ASSERT_EQ(::prlimit(keeper->pid, RLIMIT_NOFILE, nullptr, &usual), 0);
    bool worked = false;
    for (rlim_t most = std::distance(begin(open_fds), end(open_fds)); !worked; ++most) {
        const rlimit short_of{most, usual.rlim_max};
        ASSERT_EQ(::prlimit(keeper->pid, RLIMIT_NOFILE, &short_of, nullptr), 0);
        const Answer made = oyatd.ask(create_order(keeper->digest));
        ASSERT_EQ(::prlimit(keeper->pid, RLIMIT_NOFILE, &usual, nullptr), 0);
        worked = made.reply.code == 0;
        if (worked) {
            ASSERT_EQ(oyatd.ask(kill_order(made.reply.created->box.id)).reply.code, 0U);
        }
        int left = 1000;
        while (everything_held(oyatd) != 0 && --left > 0) ::usleep(1'000);
        ASSERT_NE(left, 0) << "left over with " << most << " descriptors: " << made.reply.message;
    }
    EXPECT_EQ(keeper->stop(), 0);
    EXPECT_EQ(traces_of(*keeper), std::set<std::string>{}) << keeper->log();
}

TEST_F(KeeperShortageTest, ACreateThatCanNotBeRecordedLeavesNothing) {
    keeper->start({"--pool=0"});
    Client oyatd = keeper->client();
    const std::string audit = keeper->dir + "/audit";
    std::filesystem::remove_all(audit);  // the open directory can take no file any more
    EXPECT_NE(oyatd.ask(create_order(keeper->digest)).reply.code, 0U);
    int left = 1000;
    while (everything_held(oyatd) != 0 && --left > 0) ::usleep(1'000);
    EXPECT_NE(left, 0);
    EXPECT_EQ(keeper->stop(), 0);
    EXPECT_EQ(traces_of(*keeper), std::set<std::string>{}) << keeper->log();
    std::filesystem::create_directory(audit);
}

TEST_F(KeeperShortageTest, MakesNothingMoreOnceItIsToldToStop) {
    keeper->start({"--ephemeral", "--pool=0"});
    Client oyatd = keeper->client();
    ASSERT_EQ(oyatd.ask(create_order(keeper->digest)).reply.code, 0U);
    // Both the signal and an order are there when it looks again.
    ::kill(keeper->pid, SIGSTOP);
    int status = 0;
    ASSERT_EQ(::waitpid(keeper->pid, &status, WUNTRACED), keeper->pid);
    ASSERT_TRUE(WIFSTOPPED(status));
    ::kill(keeper->pid, SIGTERM);
    wire::KeeperRequest order = create_order(keeper->digest);
    order.id = 77;
    oyatd.send(wire::encode(order));
    ::kill(keeper->pid, SIGCONT);
    EXPECT_EQ(wait_status(std::exchange(keeper->pid, -1)), 0);
    EXPECT_EQ(traces_of(*keeper), std::set<std::string>{}) << keeper->log();
}

// Else the second would take the first one's agents for leftovers, and their sockets with them.
TEST_F(KeeperShortageTest, DoesNotShareItsRunDirectoryWithAnotherState) {
    keeper->start();
    Client oyatd = keeper->client();
    const Answer made = oyatd.ask(create_order(keeper->digest));
    ASSERT_EQ(made.reply.code, 0U) << made.reply.message;
    const std::string other = "timeout 5 " + program("oyat-keeper") + " --state=" + keeper->dir +
                              "/other --run=" + keeper->dir + "/run --templates=" + keeper->dir +
                              "/templates --agent=" + program("oyat-agent") + " 2>&1; true";
    EXPECT_TRUE(output_of(other).contains("another keeper uses this run directory"));
    const Answer again = keeper->client().ask({.attach = wire::AttachBox{.id = made.reply.created->box.id}});
    EXPECT_EQ(again.reply.code, 0U) << again.reply.message;
}

}  // namespace
}  // namespace oyat::keeper::test
