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
               .masks = *house.masks,
               .templates = *house.templates,
               .policies = *house.policies,
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
    EXPECT_FALSE(policy::decide_name(*house.egress.attached.at(record.id), "a.test", {}).allows());
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
    co_await house.sandboxes->pause(one->record().id, Keep::memory, House::somebody());
    EXPECT_EQ(ids({.states = {SandboxState::paused}}), 1u);
    EXPECT_EQ(ids({.states = {SandboxState::running}}), 1u);
    EXPECT_EQ(ids({.states = {SandboxState::running, SandboxState::paused}}), 2u);
}
TEST(List, FiltersByStateMetadataAndTemplate) {
    in_house(list_story);
}

}  // namespace
}  // namespace oyat::core
