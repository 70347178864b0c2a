#include "core/registry.hpp"

#include "core/test_house.hpp"

namespace oyat::core {
namespace {

using namespace std::chrono_literals;

Task<> kill_story(House& house) {
    const auto sandbox = co_await house.create();
    const std::string id = sandbox->record().id;
    co_await house.sandboxes->kill(id, House::somebody(), EndedBy::killed);
    EXPECT_TRUE(house.keeper.killed.contains(id));
    EXPECT_FALSE(house.egress.attached.contains(id));
    EXPECT_EQ(house.store.records.at(id).state, SandboxState::ended);
    const auto record = house.sandboxes->ended(id, "default");
    EXPECT_EQ(record->ended_by, EndedBy::killed);
    EXPECT_EQ(house.log.last("sandbox.ended")->fields.at("ended_by").as_string(), "killed");
    EXPECT_EQ((co_await error_of(house.sandboxes->kill(id, House::somebody(), EndedBy::killed))).code(),
              Errc::not_found);
    EXPECT_THROW((void)sandbox->processes(), Error);
}
TEST(Kill, EndsASandboxOnceAndRemembersWhy) {
    in_house(kill_story);
}

Task<> lifetime(House& house) {
    CreateRequest request;
    request.timeout = 100s;
    const auto sandbox = co_await house.create(request);
    const std::string id = sandbox->record().id;
    house.clock.jump_wall(1000h);
    co_await house.pass(99s);
    EXPECT_EQ(sandbox->record().state, SandboxState::running);  // the wall clock's jump ends nobody
    co_await house.pass(2s);
    EXPECT_EQ(sandbox->record().state, SandboxState::ended);
    EXPECT_EQ(house.sandboxes->ended(id, "default")->ended_by, EndedBy::timeout);
}
TEST(Lifetime, EndsASandboxAtItsTimeWhateverTheWallClockDoes) {
    in_house(lifetime);
}

Task<> extension(House& house) {
    CreateRequest request;
    request.timeout = 100s;
    const auto sandbox = co_await house.create(request);
    const std::string id = sandbox->record().id;
    const auto set = [&](Millis timeout, TimeoutMode mode) {
        return house.sandboxes->set_timeout(id, timeout, mode, House::somebody());
    };
    co_await set(50s, TimeoutMode::extend_only);
    co_await house.pass(60s);
    EXPECT_EQ(sandbox->record().state, SandboxState::running);
    co_await set(100s, TimeoutMode::extend_only);
    co_await house.pass(90s);
    EXPECT_EQ(sandbox->record().state, SandboxState::running);
    co_await set(2s, TimeoutMode::replace);
    EXPECT_EQ(sandbox->record().end_at, house.clock.wall() + 2s);
    co_await house.pass(3s);
    EXPECT_EQ(sandbox->record().state, SandboxState::ended);
}
TEST(Lifetime, IsExtendedOrReplaced) {
    in_house(extension);
}

Task<> longest(House& house) {
    CreateRequest request;
    request.timeout = 1h;
    const auto sandbox = co_await house.create(request);
    co_await house.sandboxes->set_timeout(sandbox->record().id, 100h, TimeoutMode::replace,
                                          House::somebody());
    EXPECT_EQ(sandbox->record().end_at, house.clock.wall() + 2h);
    request.timeout = 3h;
    EXPECT_EQ((co_await error_of(house.create(request))).code(), Errc::invalid_argument);
}
TEST(Lifetime, StaysUnderTheOperatorsMaximum) {
    in_house(longest, {.max_life = 2h});
}

Task<> paused_at_time(House& house) {
    CreateRequest request;
    request.timeout = 10s;
    request.on_timeout = OnTimeout::pause;
    const auto sandbox = co_await house.create(request);
    const std::string id = sandbox->record().id;
    co_await house.pass(11s);
    EXPECT_EQ(sandbox->record().state, SandboxState::paused);
    co_await house.pass(100h);
    EXPECT_EQ(sandbox->record().state, SandboxState::paused);
    EXPECT_TRUE(co_await house.sandboxes->connect(id, std::nullopt, Keep::memory, House::somebody()));
    EXPECT_EQ(sandbox->record().end_at, house.clock.wall() + 5min);  // short, but never shorter than this
    co_await house.sandboxes->connect(id, 600s, Keep::memory, House::somebody());
    EXPECT_EQ(sandbox->record().end_at, house.clock.wall() + 600s);
}
TEST(Lifetime, MayEndInAPause) {
    in_house(paused_at_time);
}

// A pause keeps what was made; a keeper that is just being restarted is no reason to throw it away.
Task<> pause_at_time_without_keeper(House& house) {
    CreateRequest request;
    request.timeout = 10s;
    request.on_timeout = OnTimeout::pause;
    const auto sandbox = co_await house.create(request);
    house.keeper.away = true;
    co_await house.pass(11s);
    EXPECT_EQ(sandbox->record().state, SandboxState::running);
    house.keeper.away = false;
    co_await house.pass(5s);
    EXPECT_EQ(sandbox->record().state, SandboxState::paused);
}
TEST(Lifetime, EndsInAPauseAlsoWhenTheKeeperIsAwayAtItsTime) {
    in_house(pause_at_time_without_keeper);
}

// The time of a sandbox is up while a client's own pause of it is being begun.
Task<> pause_at_time_beside_another(House& house) {
    CreateRequest request;
    request.timeout = 10s;
    request.on_timeout = OnTimeout::pause;
    const auto sandbox = co_await house.create(request);
    const std::string id = sandbox->record().id;
    for (int turns = 0; turns < 4; ++turns) {
        TaskGroup client{house.executor};
        house.clock.pass(11s);
        client.spawn(house.sandboxes->pause(id, Keep::memory, House::somebody()));
        co_await House::turns(turns);
        house.sandboxes->expire_due();
        co_await House::turns();
        EXPECT_EQ(sandbox->record().state, SandboxState::paused) << turns;
        if (sandbox->record().state != SandboxState::paused) co_return;
        co_await house.sandboxes->connect(id, 10s, Keep::memory, House::somebody());
        co_await client.close();
    }
}
TEST(Lifetime, MayEndInAPauseThatAnotherOneBegan) {
    in_house(pause_at_time_beside_another);
}

Task<> pause_story(House& house) {
    const auto sandbox = co_await house.create();
    const std::string id = sandbox->record().id;
    co_await house.sandboxes->pause(id, Keep::memory, House::somebody());
    EXPECT_TRUE(house.keeper.boxes.at(id).facts.frozen);
    EXPECT_TRUE(house.keeper.inside(id).frozen);
    EXPECT_EQ(house.store.records.at(id).state, SandboxState::paused);
    EXPECT_EQ((co_await error_of(house.sandboxes->pause(id, Keep::memory, House::somebody()))).code(),
              Errc::failed_precondition);
    EXPECT_THROW((void)sandbox->files(), Error);
    EXPECT_TRUE(co_await house.sandboxes->connect(id, 60s, Keep::memory, House::somebody()));
    EXPECT_FALSE(co_await house.sandboxes->connect(id, 30s, Keep::memory, House::somebody()));
    EXPECT_EQ(sandbox->record().end_at, house.clock.wall() + 60s);  // connect never shortens
    co_await house.sandboxes->pause(id, Keep::memory, House::somebody());
    co_await house.sandboxes->kill(id, House::somebody(), EndedBy::killed);
    EXPECT_EQ(sandbox->record().state, SandboxState::ended);
}
TEST(Pause, FreezesAndConnectThaws) {
    in_house(pause_story);
}

Task<> crossing(House& house) {
    const auto sandbox = co_await house.create();
    const std::string id = sandbox->record().id;
    house.keeper.freeze_is_slow = true;
    TaskGroup clients{house.executor};
    bool resumed = false;
    const auto connect = [](House& where, std::string what, bool& done) -> Task<> {
        done = co_await where.sandboxes->connect(what, std::nullopt, Keep::memory, House::somebody());
    };
    clients.spawn(house.sandboxes->pause(id, Keep::memory, House::somebody()));
    co_await House::turns();
    EXPECT_EQ(sandbox->record().state, SandboxState::pausing);
    clients.spawn(connect(house, id, resumed));
    co_await House::turns();
    EXPECT_FALSE(resumed);
    house.keeper.freeze_is_slow = false;
    co_await clients.wait_idle();
    EXPECT_TRUE(resumed);
    EXPECT_EQ(sandbox->record().state, SandboxState::running);

    house.keeper.freeze_is_slow = true;
    clients.spawn(house.sandboxes->pause(id, Keep::memory, House::somebody()));
    co_await House::turns();
    clients.spawn(house.sandboxes->kill(id, House::somebody(), EndedBy::killed));
    co_await House::turns();
    EXPECT_EQ(sandbox->record().state, SandboxState::pausing);
    house.keeper.freeze_is_slow = false;
    co_await clients.wait_idle();
    EXPECT_EQ(sandbox->record().state, SandboxState::ended);
    co_await clients.close();
}
TEST(Pause, ConnectAndKillWaitForEachOther) {
    in_house(crossing);
}

}  // namespace
}  // namespace oyat::core
