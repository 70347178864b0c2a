#include <fcntl.h>
#include <sys/fsuid.h>
#include <sys/stat.h>

#include <fstream>

#include "keeper/test_keeper.hpp"

// Sandboxes on disk, with a real keeper and real jails.
namespace oyat::keeper::test {
namespace {

class StoredBoxesTest : public KeeperProcessTest {
protected:
    void SetUp() override {
        KeeperProcessTest::SetUp();
        if (IsSkipped()) return;
        keeper->start();
        oyatd.emplace(keeper->client());
    }
    void TearDown() override {
        if (IsSkipped()) return;
        oyatd.emplace(keeper->client());
        for (const wire::Box& box : list()) EXPECT_EQ(oyatd->ask(kill_order(box.id)).reply.code, 0U);
        for (const wire::SnapshotInfo& each : snapshots())
            oyatd->ask({.remove_snapshot = wire::RemoveSnapshot{.id = each.id}});
        oyatd.reset();
        EXPECT_EQ(keeper->stop(), 0);
        EXPECT_EQ(traces_of(*keeper), std::set<std::string>{}) << keeper->log();
    }
    void restart() {
        oyatd.reset();
        keeper->kill_hard();
        keeper->start();
        oyatd.emplace(keeper->client());
    }

    // Succeeds, and remembers the processes of what comes back.
    Answer must(wire::KeeperRequest request) {
        Answer answer = oyatd->ask(std::move(request));
        EXPECT_EQ(answer.reply.code, 0U) << answer.reply.message;
        return answer;
    }
    Answer create(const std::string& snapshot = "") {
        wire::KeeperRequest order = create_order(snapshot.empty() ? keeper->digest : "");
        order.create->from_snapshot = snapshot;
        return must(std::move(order));
    }
    std::vector<wire::Box> list() { return must({.list = wire::ListBoxes{}}).reply.boxes->boxes; }
    std::vector<wire::SnapshotInfo> snapshots() {
        return must({.list_snapshots = wire::ListSnapshots{}}).reply.snapshots->snapshots;
    }
    wire::SnapshotInfo snapshot_of(const std::string& id) {
        return must({.make_snapshot = wire::MakeSnapshot{.id = id}}).reply.snapshot.value();
    }
    void store(const std::string& id) { must({.store = wire::StoreBox{.id = id}}); }
    Answer wake(const std::string& id) { return must({.wake = wire::WakeBox{.id = id}}); }
    std::uint32_t refusal(wire::KeeperRequest request) { return oyatd->ask(std::move(request)).reply.code; }

    static std::string id_of(const Answer& made) { return made.reply.created.value().box.id; }
    static pid_t pid_of(const Answer& made) {
        std::ifstream facts{"/proc/self/fdinfo/" + std::to_string(made.fds.at(1).get())};
        for (std::string word; facts >> word;) {
            if (word == "Pid:") return facts >> word ? std::stoi(word) : -1;
        }
        return -1;
    }
    static Fd tmp_of(const Answer& made) {
        const std::string path = "/proc/" + std::to_string(pid_of(made)) + "/root/tmp";
        return Fd{sys(::open(path.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC), "open " + path)};
    }
    // As its root inside would.
    static void write(const Answer& made, const std::string& name) {
        const Fd tmp = tmp_of(made);
        struct stat facts{};
        sys(::fstat(tmp.get(), &facts), "stat");
        ::setfsgid(facts.st_gid);
        ::setfsuid(facts.st_uid);
        const Fd file{::openat(tmp.get(), name.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600)};
        ::setfsuid(0);
        ::setfsgid(0);
        ASSERT_TRUE(file);
    }
    static bool has(const Answer& made, const std::string& name) {
        struct stat facts{};
        return ::fstatat(tmp_of(made).get(), name.c_str(), &facts, 0) == 0;
    }

    std::optional<Client> oyatd;
};

TEST_F(StoredBoxesTest, WakesWithItsDiskAndAnotherGeneration) {
    const Answer made = create();
    write(made, "kept");
    store(id_of(made));
    EXPECT_FALSE(alive(made.fds[1]));
    ASSERT_EQ(list().size(), 1U);
    EXPECT_TRUE(list()[0].stored);
    EXPECT_FALSE(list()[0].has_memory);

    const Answer again = wake(id_of(made));
    EXPECT_EQ(id_of(again), id_of(made));
    EXPECT_NE(again.reply.created->box.generation, made.reply.created->box.generation);
    EXPECT_FALSE(again.reply.created->box.stored);
    EXPECT_NE(hello(again.fds[0]), "");
    EXPECT_TRUE(has(again, "kept"));
}

// Each box is an image that its store has mounted, also while nothing of it runs.
TEST_F(StoredBoxesTest, WakesAndGoesBackInAStoreOfImages) {
    oyatd.reset();
    ASSERT_EQ(keeper->stop(), 0);
    keeper->take_store("loop-image");
    keeper->start();
    oyatd.emplace(keeper->client());
    const std::string id = id_of(create());
    EXPECT_EQ(list()[0].disk_limit_by, "loop-image");
    const std::string snapshot = snapshot_of(id).id;
    store(id);
    write(wake(id), "later");
    store(id);
    restart();
    EXPECT_TRUE(has(wake(id), "later"));
    store(id);
    must({.reset = wire::ResetBox{.id = id, .snapshot = snapshot}});
    EXPECT_FALSE(has(wake(id), "later"));
}

TEST_F(StoredBoxesTest, StaysStoredWhenTheKeeperIsKilled) {
    const Answer made = create();
    write(made, "kept");
    store(id_of(made));
    restart();
    ASSERT_EQ(list().size(), 1U) << keeper->log();
    EXPECT_TRUE(list()[0].stored);
    EXPECT_TRUE(has(wake(id_of(made)), "kept"));
}

TEST_F(StoredBoxesTest, IsStoredWhenAllOfItsProcessesAreKilledOnTheWay) {
    const Answer made = create();
    write(made, "kept");
    // The order is on its way, the keeper is killed, and nobody knows how far it has come.
    wire::KeeperRequest order{.id = 99, .store = wire::StoreBox{.id = id_of(made)}};
    oyatd->send(wire::encode(order));
    restart();
    ASSERT_EQ(list().size(), 1U) << keeper->log();
    const bool stored = list()[0].stored;
    const Answer again = stored ? wake(id_of(made)) : must({.attach = wire::AttachBox{.id = id_of(made)}});
    EXPECT_TRUE(has(again, "kept"));
}

TEST_F(StoredBoxesTest, PausedInARunOfTheMachineThatIsOverItHasItsDisk) {
    const Answer made = create();
    write(made, "kept");
    must({.freeze = wire::FreezeBox{.id = id_of(made), .frozen = true}});
    oyatd.reset();
    keeper->kill_hard();
    keeper->pretend_another_boot(id_of(made));
    keeper->start();
    oyatd.emplace(keeper->client());
    EXPECT_FALSE(alive(made.fds[1]));
    ASSERT_EQ(list().size(), 1U) << keeper->log();
    EXPECT_TRUE(list()[0].stored);
    EXPECT_TRUE(has(wake(id_of(made)), "kept"));
}

TEST_F(StoredBoxesTest, SnapshotsOfOneThatRunsLeaveItAlone) {
    const Answer made = create();
    write(made, "before");
    const wire::SnapshotInfo snapshot = snapshot_of(id_of(made));
    EXPECT_EQ(snapshot.box, id_of(made));
    EXPECT_EQ(snapshot.template_digest, keeper->digest);
    EXPECT_FALSE(snapshot.memory);
    write(made, "after");
    EXPECT_TRUE(alive(made.fds[1]));

    const Answer child = create(snapshot.id);
    const Answer other = create(snapshot.id);
    EXPECT_NE(id_of(child), id_of(made));
    EXPECT_TRUE(has(child, "before"));
    EXPECT_FALSE(has(child, "after"));
    write(child, "own");
    EXPECT_FALSE(has(other, "own"));
    EXPECT_FALSE(has(made, "own"));
}

TEST_F(StoredBoxesTest, SnapshotsOutliveTheirSandboxAndTheKeeper) {
    const Answer made = create();
    write(made, "kept");
    const wire::SnapshotInfo snapshot = snapshot_of(id_of(made));
    EXPECT_EQ(oyatd->ask(kill_order(id_of(made))).reply.code, 0U);
    restart();
    ASSERT_EQ(snapshots().size(), 1U) << keeper->log();
    EXPECT_EQ(snapshots()[0].id, snapshot.id);
    EXPECT_TRUE(has(create(snapshot.id), "kept"));
}

TEST_F(StoredBoxesTest, WhatWasMadeOfASnapshotKeepsWhatItHasWhenThatIsRemoved) {
    const Answer made = create();
    write(made, "kept");
    const std::string snapshot = snapshot_of(id_of(made)).id;
    const Answer child = create(snapshot);
    must({.remove_snapshot = wire::RemoveSnapshot{.id = snapshot}});
    EXPECT_TRUE(snapshots().empty());
    EXPECT_TRUE(has(child, "kept"));
    EXPECT_EQ(refusal({.remove_snapshot = wire::RemoveSnapshot{.id = snapshot}}), code(Errc::not_found));
}

TEST_F(StoredBoxesTest, GoesBackToItsTemplateOrToASnapshotInPlace) {
    const Answer made = create();
    write(made, "first");
    const std::string snapshot = snapshot_of(id_of(made)).id;
    write(made, "second");
    store(id_of(made));
    must({.reset = wire::ResetBox{.id = id_of(made), .snapshot = snapshot}});
    const Answer back = wake(id_of(made));
    EXPECT_TRUE(has(back, "first"));
    EXPECT_FALSE(has(back, "second"));
    store(id_of(made));
    must({.reset = wire::ResetBox{.id = id_of(made)}});
    const Answer fresh = wake(id_of(made));
    EXPECT_EQ(id_of(fresh), id_of(made));
    EXPECT_FALSE(has(fresh, "first"));
}

TEST_F(StoredBoxesTest, IsGoneWithItsDiskWhenItIsKilledOnDisk) {
    const Answer made = create();
    store(id_of(made));
    EXPECT_EQ(oyatd->ask(kill_order(id_of(made))).reply.code, 0U);
    EXPECT_TRUE(list().empty());
    EXPECT_EQ(refusal({.wake = wire::WakeBox{.id = id_of(made)}}), code(Errc::not_found));
}

TEST_F(StoredBoxesTest, StaysWhereItIsWhileTheOperatorHoldsIt) {
    const std::string id = id_of(create());
    store(id);
    const auto pull = [&](wire::Brake brake) {
        must({.brake = wire::PullBrake{.brake = brake, .ids = {id}}});
    };
    pull(wire::Brake::hold);
    pull(wire::Brake::cut_egress);
    restart();
    ASSERT_EQ(list().size(), 1U);
    EXPECT_TRUE(list()[0].held);
    EXPECT_EQ(refusal({.wake = wire::WakeBox{.id = id}}), code(Errc::failed_precondition));
    pull(wire::Brake::release);
    EXPECT_TRUE(wake(id).reply.created->box.egress_off);
}

TEST_F(StoredBoxesTest, OneThatIsHeldCanNotBeStored) {
    const std::string id = id_of(create());
    must({.brake = wire::PullBrake{.brake = wire::Brake::hold, .ids = {id}}});
    EXPECT_EQ(refusal({.store = wire::StoreBox{.id = id}}), code(Errc::failed_precondition));
    must({.brake = wire::PullBrake{.brake = wire::Brake::release, .ids = {id}}});
}

TEST_F(StoredBoxesTest, RefusesWhatDoesNotFit) {
    const Answer made = create();
    const std::string id = id_of(made);
    EXPECT_EQ(refusal({.wake = wire::WakeBox{.id = id}}), code(Errc::failed_precondition));
    EXPECT_EQ(refusal({.reset = wire::ResetBox{.id = id}}), code(Errc::failed_precondition));
    EXPECT_EQ(refusal({.store = wire::StoreBox{.id = id, .memory = true}}), code(Errc::unimplemented));
    EXPECT_EQ(refusal({.make_snapshot = wire::MakeSnapshot{.id = id, .memory = true}}),
              code(Errc::unimplemented));
    EXPECT_EQ(refusal({.make_snapshot = wire::MakeSnapshot{.id = "../x"}}), code(Errc::invalid_argument));
    EXPECT_EQ(refusal({.remove_snapshot = wire::RemoveSnapshot{.id = "../x"}}), code(Errc::invalid_argument));
    wire::KeeperRequest order = create_order("");
    order.create->from_snapshot = "s" + std::string(20, 'a');
    EXPECT_EQ(refusal(order), code(Errc::not_found));
    order = create_order(keeper->digest);
    order.create->engine = "nothing";
    EXPECT_EQ(refusal(order), code(Errc::unimplemented));
    EXPECT_TRUE(alive(made.fds[1]));
}

TEST_F(StoredBoxesTest, ATemplateStaysWhileASnapshotNeedsIt) {
    const Answer made = create();
    static_cast<void>(snapshot_of(id_of(made)));
    EXPECT_EQ(oyatd->ask(kill_order(id_of(made))).reply.code, 0U);
    EXPECT_EQ(refusal({.remove_template = wire::RemoveTemplate{.digest = keeper->digest}}),
              code(Errc::failed_precondition));
}

TEST_F(StoredBoxesTest, RestsOfRemovalsAreRemovedAndOddNamesKeepNobodyFromStarting) {
    const std::string id = id_of(create());
    oyatd.reset();
    keeper->kill_hard();
    const std::string memory = keeper->dir + "/keeper/memory/";
    const std::string gone = "i" + std::string(20, 'z');
    for (const std::string& name :
         {gone + "~1", gone + ".new~2", std::string{"~"}, std::string{"What is this?"}})
        std::filesystem::create_directories(memory + name + "/inside");
    keeper->start();
    oyatd.emplace(keeper->client());
    ASSERT_EQ(list().size(), 1U) << keeper->log();
    EXPECT_EQ(list()[0].id, id);
    EXPECT_FALSE(std::filesystem::exists(memory + gone + "~1"));
    EXPECT_FALSE(std::filesystem::exists(memory + gone + ".new~2"));
}

TEST_F(StoredBoxesTest, HalfASnapshotIsRemovedByTheNextKeeper) {
    const Answer made = create();
    const std::string snapshot = snapshot_of(id_of(made)).id;
    oyatd.reset();
    keeper->kill_hard();
    std::filesystem::remove(keeper->dir + "/keeper/snapshots/" + snapshot);
    keeper->start();
    oyatd.emplace(keeper->client());
    EXPECT_TRUE(snapshots().empty());
    const Answer child = oyatd->ask([&] {
        wire::KeeperRequest order = create_order("");
        order.create->from_snapshot = snapshot;
        return order;
    }());
    EXPECT_EQ(child.reply.code, code(Errc::not_found));
}

}  // namespace
}  // namespace oyat::keeper::test
