#include "api/e2b/polled_watchers.hpp"

#include <gtest/gtest.h>

#include "core/test_house.hpp"
#include "io/gate.hpp"

namespace oyat::e2b {
namespace {

// Gives its changes once, then waits.
class FakeWatch final : public core::FileWatch {
public:
    explicit FakeWatch(std::vector<core::FileChange> changes) : changes_{std::move(changes)} {}
    Task<std::vector<core::FileChange>> next() override {
        if (changes_.empty()) co_await never_.pass();
        co_return std::exchange(changes_, {});
    }

private:
    std::vector<core::FileChange> changes_;
    Gate never_;
};

core::FileChange change(std::string name, core::ChangeKind kind = core::ChangeKind::create) {
    return {.kind = kind, .name = std::move(name), .entry = std::nullopt};
}

class Polled : public testing::Test {
protected:
    Polled() {
        loop.run(store_in(sandbox, house.create()));
        id = (*sandbox)->record().id;
    }
    ~Polled() override {
        loop.run(watchers.close());
        loop.run(house.sandboxes->close());
    }
    std::string watch(std::vector<core::FileChange> changes) {
        std::string watcher =
            watchers.add(loop.executor(), *sandbox, std::make_unique<FakeWatch>(std::move(changes)));
        loop.run(core::House::turns());
        return watcher;
    }

    Loop loop;
    core::House house{loop.executor()};
    PolledWatchers watchers;
    std::optional<std::shared_ptr<core::Sandbox>> sandbox;
    std::string id;
};

TEST_F(Polled, ChangesAreGivenOnce) {
    const std::string watcher = watch({change("a"), change("b")});
    EXPECT_EQ(watchers.take(id, watcher).size(), 2u);
    EXPECT_EQ(watchers.take(id, watcher).size(), 0u);
}

TEST_F(Polled, ARemovedWatcherIsUnknownAndSoIsOneOfAnotherSandbox) {
    const std::string watcher = watch({});
    EXPECT_THROW((void)watchers.take("iother", watcher), Error);
    watchers.remove(id, watcher);
    EXPECT_THROW((void)watchers.take(id, watcher), Error);
    EXPECT_THROW(watchers.remove(id, watcher), Error);
}

TEST_F(Polled, LostChangesAreSaidOnce) {
    for (std::vector<core::FileChange> flood :
         {std::vector{change("", core::ChangeKind::overflow)},
          std::vector(PolledWatchers::kMostChanges + 1, change("x")),
          std::vector(2, change(std::string(PolledWatchers::kMostBytes, 'x')))}) {
        const std::string watcher = watch(std::move(flood));
        EXPECT_THROW((void)watchers.take(id, watcher), Error);
        EXPECT_TRUE(watchers.take(id, watcher).empty());
    }
}

TEST_F(Polled, ASandboxHasOnlySoMany) {
    for (std::size_t i = 0; i < PolledWatchers::kMostOfASandbox; ++i) (void)watch({});
    EXPECT_THROW((void)watch({}), Error);
}

TEST_F(Polled, TheyEndWithTheSandbox) {
    const std::string watcher = watch({change("a")});
    loop.run(house.sandboxes->kill(id, core::House::somebody(), core::EndedBy::killed));
    loop.run(core::House::turns());
    EXPECT_THROW((void)watchers.take(id, watcher), Error);
}

}  // namespace
}  // namespace oyat::e2b
