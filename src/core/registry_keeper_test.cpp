#include "core/registry.hpp"

#include "core/test_house.hpp"

namespace oyat::core {
namespace {

using namespace std::chrono_literals;

Task<> keeper_away(House& house) {
    const auto sandbox = co_await house.create();
    const std::string id = sandbox->record().id;
    house.keeper.away = true;
    EXPECT_EQ((co_await error_of(house.sandboxes->pause(id, Keep::memory, House::somebody()))).fault(),
              Fault::engine);
    EXPECT_EQ(sandbox->record().state, SandboxState::running);
    EXPECT_EQ((co_await error_of(house.sandboxes->kill(id, House::somebody(), EndedBy::killed))).fault(),
              Fault::engine);
    EXPECT_EQ(sandbox->record().state, SandboxState::ending);
    EXPECT_EQ((co_await error_of(house.sandboxes->connect(id, std::nullopt, Keep::memory, House::somebody())))
                  .code(),
              Errc::failed_precondition);
    house.keeper.away = false;
    house.keeper.notice({.kind = KeeperNotice::Kind::link_back});
    co_await House::turns();
    EXPECT_EQ(sandbox->record().state, SandboxState::ended);
    EXPECT_EQ(house.sandboxes->ended(id, "default")->ended_by, EndedBy::killed);
    EXPECT_TRUE(house.keeper.boxes.empty());
}
TEST(Keeper, ThatWasAwayFinishesHalfDoneKillsWhenItIsBack) {
    in_house(keeper_away);
}

// Its answer was lost with it: what it has done is seen when it is back.
Task<> keeper_died_in_a_pause(House& house) {
    const auto sandbox = co_await house.create();
    const std::string id = sandbox->record().id;
    const auto frozen = [&] { return house.keeper.boxes.at(id).facts.frozen; };
    house.keeper.freeze_answers = Error{Errc::unavailable, Fault::engine, "the keeper went away"};
    co_await error_of(house.sandboxes->pause(id, Keep::memory, House::somebody()));
    EXPECT_EQ(sandbox->record().state, SandboxState::running);
    EXPECT_TRUE(frozen());
    house.keeper.freeze_answers.reset();
    house.keeper.notice({.kind = KeeperNotice::Kind::link_back});
    co_await House::turns();
    EXPECT_EQ(sandbox->record().state, SandboxState::running);
    EXPECT_FALSE(frozen());

    co_await house.sandboxes->pause(id, Keep::memory, House::somebody());
    house.keeper.boxes.at(id).facts.frozen = false;
    house.keeper.notice({.kind = KeeperNotice::Kind::link_back});
    co_await House::turns();
    EXPECT_EQ(sandbox->record().state, SandboxState::paused);
    EXPECT_TRUE(frozen()) << "it would run on with nobody to end it";
}
TEST(Keeper, ThatDiedInAPauseLeavesNoSandboxFrozenThatIsNotPaused) {
    in_house(keeper_died_in_a_pause);
}

Task<> keeper_restarted(House& house) {
    const auto stays = co_await house.create();
    const auto gone = co_await house.create();
    house.keeper.boxes.erase(gone->record().id);
    co_await house.keeper.create({.owner_tag = "nobody"});
    house.keeper.notice({.kind = KeeperNotice::Kind::link_lost, .text = "died"});
    house.keeper.notice({.kind = KeeperNotice::Kind::link_back});
    co_await House::turns();
    EXPECT_EQ(stays->record().state, SandboxState::running);
    EXPECT_EQ(house.sandboxes->ended(gone->record().id, "default")->ended_by, EndedBy::crash);
    EXPECT_EQ(house.keeper.boxes.size(), 1u);  // and the stranger is ended
    EXPECT_EQ(house.log.count("keeper.lost"), 1u);
}
TEST(Keeper, ThatComesBackIsComparedWithWhatWeKnow) {
    in_house(keeper_restarted);
}

Task<> died(House& house) {
    const auto crashed = co_await house.create();
    house.keeper.notice({.kind = KeeperNotice::Kind::died, .id = crashed->record().id});
    const auto starved = co_await house.create();
    house.keeper.notice({.kind = KeeperNotice::Kind::oom,
                         .id = starved->record().id,
                         .process = "node",
                         .pid = 212,
                         .count = 1});
    house.keeper.notice({.kind = KeeperNotice::Kind::died, .id = starved->record().id});
    co_await House::turns();
    EXPECT_EQ(house.sandboxes->ended(crashed->record().id, "default")->ended_by, EndedBy::crash);
    const auto record = house.sandboxes->ended(starved->record().id, "default");
    EXPECT_EQ(record->ended_by, EndedBy::oom);
    EXPECT_EQ(record->ended_detail, "process node (pid 212) was killed: memory limit 2 GiB");
    EXPECT_EQ(house.log.last("limit.hit")->fields.at("limit").as_string(), "memory");
}
TEST(Death, IsToldFromDeathForWantOfMemory) {
    in_house(died);
}

Task<> samples_story(House& house) {
    const auto sandbox = co_await house.create();
    BoxUsage& usage = house.keeper.boxes.at(sandbox->record().id).usage;
    usage.memory_now = 100u << 20;
    co_await house.sandboxes->take_samples();
    house.clock.pass(5s);
    usage.cpu_us = 2'500'000;
    co_await house.sandboxes->take_samples();
    const auto samples = house.sandboxes->samples(sandbox->record().id, "default");
    EXPECT_EQ(samples.size(), 2u);
    EXPECT_EQ(samples.back().usage.memory_now, 100u << 20);
    EXPECT_NEAR(samples.back().cpu_percent, 50, 0.1);
    for (int i = 0; i < 1000; ++i) {
        house.clock.pass(5s);
        co_await house.sandboxes->take_samples();
    }
    EXPECT_LE(house.sandboxes->samples(sandbox->record().id, "default").size(), 721u);
}
TEST(Samples, CoverTheLastHour) {
    in_house(samples_story);
}

}  // namespace
}  // namespace oyat::core
