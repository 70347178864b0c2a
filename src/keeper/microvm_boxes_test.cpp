#include "keeper/test_keeper.hpp"

// Microvm sandboxes, with a real keeper and real machines. Without KVM they are emulated.
namespace oyat::keeper::test {
namespace {

class MicrovmBoxesTest : public KeeperProcessTest {
protected:
    void SetUp() override {
        KeeperProcessTest::SetUp();
        if (IsSkipped()) return;
        start();
        wire::EngineInfo engine = microvm();
        while (engine.reason == "it is being tried out") {
            ::poll(nullptr, 0, 20);
            engine = microvm();
        }
        if (!engine.available) GTEST_SKIP() << "no microvm here: " << engine.reason;
    }
    wire::EngineInfo microvm() {
        const wire::KeeperInfo info = oyatd->ask(info_order()).reply.info.value();
        return *std::ranges::find(info.engines, "microvm", &wire::EngineInfo::name);
    }
    void TearDown() override {
        if (!oyatd) return;
        oyatd.reset();
        if (keeper->pid > 0) keeper->kill_hard();
        keeper->start({"--ephemeral", kKernel});
        EXPECT_EQ(keeper->stop(), 0);
        EXPECT_EQ(traces_of(*keeper), std::set<std::string>{}) << keeper->log();
    }
    void start() {
        keeper->start({kKernel});
        oyatd.emplace(keeper->client());
    }
    void restart() {
        oyatd.reset();
        keeper->kill_hard();
        start();
    }

    Answer must(wire::KeeperRequest request) {
        Answer answer = oyatd->ask(std::move(request));
        EXPECT_EQ(answer.reply.code, 0U) << answer.reply.message << "\n" << keeper->log();
        return answer;
    }
    Answer create() {
        wire::KeeperRequest order =
            create_order(keeper->digest, {.memory_bytes = 128 << 20, .disk_bytes = 64 << 20});
        order.create->engine = "microvm";
        return must(std::move(order));
    }

    static constexpr const char* kKernel = "--kernel=/usr/lib/oyat/kernel";
    std::optional<Client> oyatd;
};

TEST_F(MicrovmBoxesTest, IsAdoptedByTheNextKeeperAndStoredAndWoken) {
    const Answer made = create();
    ASSERT_TRUE(made.reply.created);
    const wire::Box box = made.reply.created->box;
    EXPECT_EQ(box.engine, "microvm");
    EXPECT_EQ(box.boundary, "own-kernel");
    EXPECT_NE(box.kernel, "");
    restart();
    EXPECT_TRUE(alive(made.fds[1]));
    ASSERT_EQ(must({.list = wire::ListBoxes{}}).reply.boxes->boxes.size(), 1U) << keeper->log();

    must({.store = wire::StoreBox{.id = box.id}});
    EXPECT_FALSE(alive(made.fds[1]));
    const Answer again = must({.wake = wire::WakeBox{.id = box.id}});
    EXPECT_EQ(again.reply.created->box.id, box.id);
    EXPECT_TRUE(alive(again.fds[1]));
}

TEST_F(MicrovmBoxesTest, GoesWhenItIsKilled) {
    const Answer made = create();
    ASSERT_TRUE(made.reply.created);
    EXPECT_EQ(oyatd->ask(kill_order(made.reply.created->box.id)).reply.code, 0U);
    EXPECT_FALSE(alive(made.fds[1]));
}

}  // namespace
}  // namespace oyat::keeper::test
