#include <sys/syscall.h>

#include "keeper/test_keeper.hpp"

// The life of sandboxes as oyatd meets it: a real process, real jails.
namespace oyat::keeper::test {
namespace {

TEST_F(KeeperProcessTest, HandsOutAJailWhoseAgentAnswers) {
    keeper->start();
    Client oyatd = keeper->client();
    const Answer made = oyatd.ask(create_order(keeper->digest));
    ASSERT_EQ(made.reply.code, 0U) << made.reply.message;
    ASSERT_EQ(made.fds.size(), 6U);
    EXPECT_EQ(made.reply.created->box.template_digest, keeper->digest);
    EXPECT_EQ(made.reply.created->box.owner_tag, "test");
    EXPECT_NE(hello(made.fds[0]), "");
    EXPECT_TRUE(alive(made.fds[1]));
    ASSERT_EQ(::write(made.fds[5].get(), "line\n", 5), 5);
    EXPECT_EQ(
        std::filesystem::file_size(keeper->dir + "/audit/" + made.reply.created->box.id + ".000001.log"), 5U);
}

TEST_F(KeeperProcessTest, LeavesNothingBehindWhenItStopsWithNoSandbox) {
    keeper->start();
    {
        Client oyatd = keeper->client();
        const Answer made = oyatd.ask(create_order(keeper->digest));
        ASSERT_EQ(made.reply.code, 0U) << made.reply.message;
        EXPECT_EQ(oyatd.ask(kill_order(made.reply.created->box.id)).reply.code, 0U);
        EXPECT_FALSE(alive(made.fds[1]));
    }
    EXPECT_EQ(keeper->stop(), 0);
    EXPECT_EQ(traces_of(*keeper), std::set<std::string>{}) << keeper->log();
}

TEST_F(KeeperProcessTest, FindsItsSandboxesAfterItWasKilled) {
    keeper->start();
    const Answer made = keeper->client().ask(create_order(keeper->digest));
    ASSERT_EQ(made.reply.code, 0U) << made.reply.message;
    const std::string id = made.reply.created->box.id;
    EXPECT_NE(hello(made.fds[0]), "");
    keeper->kill_hard();
    EXPECT_TRUE(alive(made.fds[1]));

    keeper->start();
    Client oyatd = keeper->client();
    const Answer list = oyatd.ask({.list = wire::ListBoxes{}});
    ASSERT_EQ(list.reply.boxes->boxes.size(), 1U) << keeper->log();
    EXPECT_EQ(list.reply.boxes->boxes[0].id, id);
    EXPECT_EQ(list.reply.boxes->boxes[0].generation, made.reply.created->box.generation);
    const Answer again = oyatd.ask({.attach = wire::AttachBox{.id = id}});
    ASSERT_EQ(again.reply.code, 0U) << again.reply.message;
    EXPECT_NE(hello(again.fds[0]), "");
    EXPECT_EQ(oyatd.ask(kill_order(id)).reply.code, 0U);
    EXPECT_FALSE(alive(made.fds[1]));
    keeper->stop();
    EXPECT_EQ(traces_of(*keeper), std::set<std::string>{}) << keeper->log();
}

TEST_F(KeeperProcessTest, DestroysWhatNoRecordKnows) {
    keeper->start();
    const Answer made = keeper->client().ask(create_order(keeper->digest));
    ASSERT_EQ(made.reply.code, 0U) << made.reply.message;
    keeper->kill_hard();
    std::filesystem::remove(keeper->dir + "/keeper/records/" + made.reply.created->box.id);
    keeper->start({"--pool=0"});
    EXPECT_FALSE(alive(made.fds[1]));
    const wire::KeeperInfo info = *keeper->client().ask(info_order()).reply.info;
    EXPECT_EQ(info.held.sandboxes + info.pooled.sandboxes, 0U);
    EXPECT_EQ(info.held.cgroups + info.pooled.cgroups, 0U);
    EXPECT_EQ(info.held.processes + info.pooled.processes, 0U);
}

TEST_F(KeeperProcessTest, KillsNobodyWhoMerelyHasTheRecordedNumber) {
    keeper->start({"--pool=0"});
    const Answer made = keeper->client().ask(create_order(keeper->digest));
    ASSERT_EQ(made.reply.code, 0U) << made.reply.message;
    keeper->kill_hard();
    // The record now names this very test, whose start time is another.
    const std::string path = keeper->dir + "/keeper/records/" + made.reply.created->box.id;
    std::ifstream file{path};
    std::string bytes{std::istreambuf_iterator<char>{file}, {}};
    std::string field;
    wire::put_tagged_varint(field, 5, static_cast<std::uint64_t>(::getpid()));  // the last of a field counts
    bytes[0] = static_cast<char>(bytes[0] + static_cast<char>(field.size()));   // its length, below 256
    ASSERT_EQ(bytes[1], 0);
    std::ofstream{path} << bytes + field;
    keeper->start({"--pool=0"});
    EXPECT_TRUE(keeper->client().ask({.list = wire::ListBoxes{}}).reply.boxes->boxes.empty());
    EXPECT_FALSE(alive(made.fds[1]));  // the sandbox went, found by its control group
}

TEST_F(KeeperProcessTest, KeepsSandboxesWhenItIsStoppedUnlessItIsEphemeral) {
    keeper->start();
    const Answer made = keeper->client().ask(create_order(keeper->digest));
    ASSERT_EQ(made.reply.code, 0U) << made.reply.message;
    keeper->stop();
    EXPECT_TRUE(alive(made.fds[1]));
    keeper->start({"--ephemeral"});
    keeper->stop();
    EXPECT_FALSE(alive(made.fds[1]));
    EXPECT_EQ(traces_of(*keeper), std::set<std::string>{}) << keeper->log();
}

TEST_F(KeeperProcessTest, ClaimsAWarmSandboxOnce) {
    keeper->start({"--pool=1"});
    Client oyatd = keeper->client();
    const Answer cold = oyatd.ask(create_order(keeper->digest));
    ASSERT_EQ(cold.reply.code, 0U) << cold.reply.message;
    EXPECT_FALSE(cold.reply.created->box.warm);
    while (oyatd.ask(info_order()).reply.info->pooled.sandboxes == 0) ::usleep(10'000);
    wire::KeeperRequest order = create_order(keeper->digest, {.memory_bytes = 128 << 20, .processes = 77});
    order.create->from_pool_only = true;
    const Answer warm = oyatd.ask(order);
    ASSERT_EQ(warm.reply.code, 0U) << warm.reply.message;
    EXPECT_TRUE(warm.reply.created->box.warm);
    EXPECT_EQ(warm.reply.created->box.limits.processes, 77U);
    EXPECT_EQ(oyatd.ask(order).reply.code, code(Errc::exhausted));
}

TEST_F(KeeperProcessTest, TellsWhenASandboxEndsByItself) {
    keeper->start();
    Client oyatd = keeper->client();
    const Answer made = oyatd.ask(create_order(keeper->digest));
    ASSERT_EQ(made.reply.code, 0U) << made.reply.message;
    ASSERT_EQ(::syscall(SYS_pidfd_send_signal, made.fds[1].get(), SIGKILL, nullptr, 0), 0);
    const wire::KeeperEvent died = oyatd.wait_for(wire::EventKind::died);
    EXPECT_EQ(died.id, made.reply.created->box.id);
    ASSERT_TRUE(died.last);
    EXPECT_GT(died.last->memory_limit, 0U);
}

TEST_F(KeeperProcessTest, FreezesThawsAndKillsAFrozenOne) {
    keeper->start();
    Client oyatd = keeper->client();
    const Answer made = oyatd.ask(create_order(keeper->digest));
    const std::string id = made.reply.created->box.id;
    EXPECT_EQ(oyatd.ask({.freeze = wire::FreezeBox{.id = id, .frozen = true}}).reply.code, 0U);
    EXPECT_TRUE(oyatd.ask({.list = wire::ListBoxes{}}).reply.boxes->boxes.at(0).frozen);
    keeper->kill_hard();
    keeper->start();
    Client next = keeper->client();
    EXPECT_TRUE(next.ask({.list = wire::ListBoxes{}}).reply.boxes->boxes.at(0).frozen);
    EXPECT_EQ(next.ask(kill_order(id)).reply.code, 0U);
    EXPECT_FALSE(alive(made.fds[1]));
}

TEST_F(KeeperProcessTest, DoesNotRunTwiceOnOneState) {
    keeper->start();
    const std::string again = program("oyat-keeper") + " --state=" + keeper->dir + " --run=" + keeper->dir +
                              "/run2 --templates=" + keeper->dir +
                              "/templates --agent=" + program("oyat-agent") + " 2>&1; true";
    EXPECT_TRUE(output_of(again).contains("another keeper runs on this state"));
}

TEST_F(KeeperProcessTest, AStartThatFailsLeavesNothing) {
    const std::string failed = program("oyat-keeper") + " --state=" + keeper->dir + " --run=" + keeper->dir +
                               "/run --templates=" + keeper->dir +
                               "/templates --agent=/nonexistent 2>&1; true";
    EXPECT_TRUE(output_of(failed).contains("/nonexistent"));
    EXPECT_EQ(traces_of(*keeper), std::set<std::string>{});
    EXPECT_FALSE(std::filesystem::exists(keeper->dir + "/run"));
}

}  // namespace
}  // namespace oyat::keeper::test
