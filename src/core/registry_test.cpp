#include "core/registry.hpp"

#include <boost/json/serialize.hpp>

#include "core/test_house.hpp"

namespace oyat::core {
namespace {

using namespace std::chrono_literals;

// One sandbox of its own, with what the registry would give it.
struct LiveSandboxParts {
    explicit LiveSandboxParts(House& house)
        : deps{.executor = house.executor,
               .clock = house.clock,
               .keeper = house.keeper,
               .connector = house.keeper,
               .egress = house.egress,
               .store = house.store,
               .events = *house.bus,
               .templates = *house.templates,
               .config = house.config},
          admission{deps.config, house.clock} {}
    [[nodiscard]] std::shared_ptr<LiveSandbox> make() {
        SandboxRecord record;
        record.id = new_sandbox_id();
        return std::make_shared<LiveSandbox>(deps, admission, texts, std::move(record));
    }

    SandboxesDeps deps;
    Admission admission;
    TextBudget texts{1u << 20};
};

Task<> create_story(House& house) {
    CreateRequest request;
    request.metadata = {{"job", "42"}};
    request.env = {{"TOKEN", "secret-value"}, {"LANG", "C"}};
    request.internet = false;
    request.timeout = 60s;
    request.limits.processes = 1024;
    const auto sandbox = co_await house.create(request);
    const SandboxRecord& record = sandbox->record();
    EXPECT_EQ(record.state, SandboxState::running);
    EXPECT_EQ(record.boundary, "shared-kernel");
    EXPECT_EQ(record.limits.processes, 1024u);
    EXPECT_EQ(record.phases.size(), 4u);
    EXPECT_EQ(record.phases.back().name, "ready");
    EXPECT_EQ(record.end_at, house.clock.wall() + 60s);
    EXPECT_FALSE(house.egress.attached.at(record.id).internet);
    EXPECT_EQ(house.keeper.inside(record.id).setup->env.at("TOKEN"), "secret-value");
    EXPECT_EQ(house.store.records.at(record.id).access_token, record.access_token);
    EXPECT_EQ(house.sandboxes->find(record.id, "default"), sandbox);

    const Event* created = house.log.last("sandbox.created");
    EXPECT_NE(created, nullptr);
    EXPECT_EQ(created->id, record.created_event);
    EXPECT_EQ(created->fields.at("requested").as_string(), house.log.last("sandbox.requested")->id);
    EXPECT_EQ(boost::json::serialize(house.log.last("sandbox.requested")->fields.at("limits")),
              R"({"processes":1024})");
    EXPECT_EQ(created->fields.at("env_names").as_array().size(), 2u);
    for (const Event& each : house.log.events) {
        EXPECT_EQ(boost::json::serialize(each.fields).find("secret-value"), std::string::npos) << each.type;
    }
}
TEST(Create, MakesARunningSandboxWithItsRecordAndPolicy) {
    in_house(create_story);
}

Task<> failed_create(House& house) {
    house.keeper.agents_answer = false;
    const Error error = co_await error_of(house.create());
    EXPECT_EQ(error.message(), "the agent says nothing");
    EXPECT_EQ(error.event(), house.log.last("sandbox.failed")->id);
    EXPECT_TRUE(house.keeper.boxes.empty());
    EXPECT_TRUE(house.store.records.empty());
    EXPECT_TRUE(house.egress.attached.empty());
    EXPECT_TRUE(house.sandboxes->list({.tenant = "default"}).empty());
    house.keeper.agents_answer = true;
    house.store.fails = true;
    EXPECT_EQ((co_await error_of(house.create())).fault(), Fault::oyat_operator);
    EXPECT_TRUE(house.keeper.boxes.empty());
    house.store.fails = false;
    co_await house.create();
}
TEST(Create, LeavesNothingWhenAStepFails) {
    in_house(failed_create);
}

// The agent is lost while it is being greeted, which is why the create fails: nothing may wait for the
// sandbox any more.
Task<> lost_in_create(House& house) {
    LiveSandboxParts parts{house};
    const auto sandbox = parts.make();
    TaskGroup waiting{house.executor};
    waiting.spawn(sandbox->settle());
    co_await House::turns();
    EXPECT_EQ(waiting.size(), 1u);
    co_await sandbox->undo_create();
    co_await House::turns();
    EXPECT_EQ(waiting.size(), 0u);
    co_await waiting.close();
}
TEST(Create, ThatFailedLetsThoseGoWhoWaitForTheSandbox) {
    in_house(lost_in_create);
}

Task<> refused_create(House& house) {
    CreateRequest request;
    request.template_ref = "nonesuch";
    Error error = co_await error_of(house.create(request));
    EXPECT_EQ(error.code(), Errc::not_found);
    EXPECT_EQ(error.event(), house.log.last("sandbox.refused")->id);
    request = {};
    request.timeout = 0s;
    EXPECT_EQ((co_await error_of(house.create(request))).code(), Errc::invalid_argument);
    request = {};
    request.env = {{"A=B", "x"}};
    EXPECT_EQ((co_await error_of(house.create(request))).code(), Errc::invalid_argument);
    request = {};
    request.metadata = {{"a", std::string(70'000, 'x')}};
    EXPECT_EQ((co_await error_of(house.create(request))).code(), Errc::invalid_argument);
    request = {};
    request.minimum_boundary = "own-kernel";
    error = co_await error_of(house.create(request));
    EXPECT_EQ(error.code(), Errc::failed_precondition);
    EXPECT_TRUE(house.keeper.boxes.empty());
}
TEST(Create, RefusesWhatItCannotGiveWithTheEventThatSaysSo) {
    in_house(refused_create);
}

Task<> full(House& house) {
    const auto first = co_await house.create();
    co_await house.create();
    const Error error = co_await error_of(house.create());
    EXPECT_EQ(error.code(), Errc::exhausted);
    EXPECT_EQ(error.fault(), Fault::limit);
    EXPECT_NE(error.message().find("limit of 2 sandboxes"), std::string::npos);
    co_await house.sandboxes->create({}, House::somebody("other"));  // another tenant has its own
    co_await house.sandboxes->kill(first->record().id, House::somebody(), EndedBy::killed);
    co_await house.create();
}
TEST(Admission, CountsTheSandboxesOfEachTenant) {
    in_house(full, {.max_sandboxes = 2});
}

Task<> burst(House& house) {
    for (int i = 0; i < 3; ++i) co_await house.create();
    EXPECT_EQ((co_await error_of(house.create())).code(), Errc::exhausted);
    house.clock.pass(1s);
    for (int i = 0; i < 2; ++i) co_await house.create();
    EXPECT_EQ((co_await error_of(house.create())).code(), Errc::exhausted);
}
TEST(Admission, AllowsABurstAndThenARate) {
    in_house(burst, {.creates_per_second = 2, .create_burst = 3});
}

Task<> tenants(House& house) {
    const auto mine = co_await house.create();
    const std::string id = mine->record().id;
    const auto stranger = House::somebody("other");
    const Error foreign = co_await error_of(house.sandboxes->kill(id, stranger, EndedBy::killed));
    const Error unknown =
        co_await error_of(house.sandboxes->kill("i00000000000000000000", stranger, EndedBy::killed));
    EXPECT_EQ(foreign.code(), Errc::not_found);
    EXPECT_EQ(unknown.code(), Errc::not_found);
    EXPECT_EQ(foreign.message(), "sandbox " + id + " not found");
    EXPECT_THROW((void)house.sandboxes->find(id, "other"), Error);
    EXPECT_TRUE(house.sandboxes->list({.tenant = "other"}).empty());
    co_await house.sandboxes->kill(id, House::somebody(), EndedBy::killed);
    EXPECT_FALSE(house.sandboxes->ended(id, "other"));
    EXPECT_TRUE(house.sandboxes->ended(id, "default"));
}
TEST(Tenants, LearnNothingOfEachOthersSandboxes) {
    in_house(tenants);
}

Task<> list_story(House& house) {
    CreateRequest request;
    request.metadata = {{"a", "1"}, {"b", "2"}};
    const auto both = co_await house.create(request);
    request.metadata = {{"a", "1"}};
    const auto one = co_await house.create(request);
    const auto ids = [&](ListFilter filter) {
        filter.tenant = "default";
        return house.sandboxes->list(filter).size();
    };
    EXPECT_EQ(ids({}), 2u);
    EXPECT_EQ(ids({.metadata = {{"a", "1"}}}), 2u);
    EXPECT_EQ(ids({.metadata = {{"a", "1"}, {"b", "2"}}}), 1u);
    EXPECT_EQ(ids({.template_ref = "base"}), 2u);
    EXPECT_EQ(ids({.template_ref = "other"}), 0u);
    co_await house.sandboxes->pause(one->record().id, House::somebody());
    EXPECT_EQ(ids({.states = {SandboxState::paused}}), 1u);
    EXPECT_EQ(ids({.states = {SandboxState::running}}), 1u);
    EXPECT_EQ(ids({.states = {SandboxState::running, SandboxState::paused}}), 2u);
}
TEST(List, FiltersByStateMetadataAndTemplate) {
    in_house(list_story);
}

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
    EXPECT_TRUE(co_await house.sandboxes->connect(id, std::nullopt, House::somebody()));
    EXPECT_EQ(sandbox->record().end_at, house.clock.wall() + 5min);  // short, but never shorter than this
    co_await house.sandboxes->connect(id, 600s, House::somebody());
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
        client.spawn(house.sandboxes->pause(id, House::somebody()));
        co_await House::turns(turns);
        house.sandboxes->expire_due();
        co_await House::turns();
        EXPECT_EQ(sandbox->record().state, SandboxState::paused) << turns;
        if (sandbox->record().state != SandboxState::paused) co_return;
        co_await house.sandboxes->connect(id, 10s, House::somebody());
        co_await client.close();
    }
}
TEST(Lifetime, MayEndInAPauseThatAnotherOneBegan) {
    in_house(pause_at_time_beside_another);
}

Task<> pause_story(House& house) {
    const auto sandbox = co_await house.create();
    const std::string id = sandbox->record().id;
    co_await house.sandboxes->pause(id, House::somebody());
    EXPECT_TRUE(house.keeper.boxes.at(id).facts.frozen);
    EXPECT_TRUE(house.keeper.inside(id).frozen);
    EXPECT_EQ(house.store.records.at(id).state, SandboxState::paused);
    EXPECT_EQ((co_await error_of(house.sandboxes->pause(id, House::somebody()))).code(),
              Errc::failed_precondition);
    EXPECT_THROW((void)sandbox->files(), Error);
    EXPECT_TRUE(co_await house.sandboxes->connect(id, 60s, House::somebody()));
    EXPECT_FALSE(co_await house.sandboxes->connect(id, 30s, House::somebody()));
    EXPECT_EQ(sandbox->record().end_at, house.clock.wall() + 60s);  // connect never shortens
    co_await house.sandboxes->pause(id, House::somebody());
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
        done = co_await where.sandboxes->connect(what, std::nullopt, House::somebody());
    };
    clients.spawn(house.sandboxes->pause(id, House::somebody()));
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
    clients.spawn(house.sandboxes->pause(id, House::somebody()));
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

Task<> keeper_away(House& house) {
    const auto sandbox = co_await house.create();
    const std::string id = sandbox->record().id;
    house.keeper.away = true;
    EXPECT_EQ((co_await error_of(house.sandboxes->pause(id, House::somebody()))).fault(), Fault::engine);
    EXPECT_EQ(sandbox->record().state, SandboxState::running);
    EXPECT_EQ((co_await error_of(house.sandboxes->kill(id, House::somebody(), EndedBy::killed))).fault(),
              Fault::engine);
    EXPECT_EQ(sandbox->record().state, SandboxState::ending);
    EXPECT_EQ((co_await error_of(house.sandboxes->connect(id, std::nullopt, House::somebody()))).code(),
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
    co_await error_of(house.sandboxes->pause(id, House::somebody()));
    EXPECT_EQ(sandbox->record().state, SandboxState::running);
    EXPECT_TRUE(frozen());
    house.keeper.freeze_answers.reset();
    house.keeper.notice({.kind = KeeperNotice::Kind::link_back});
    co_await House::turns();
    EXPECT_EQ(sandbox->record().state, SandboxState::running);
    EXPECT_FALSE(frozen());

    co_await house.sandboxes->pause(id, House::somebody());
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
