#include "core/test_house.hpp"

namespace oyat::core {
namespace {

using namespace std::chrono_literals;

Task<> restart_story(House& house) {
    CreateRequest request;
    request.timeout = 100s;
    request.internet = false;
    const auto before = co_await house.create(request);
    const std::string id = before->record().id;
    const std::string token = before->record().access_token;
    const auto unread = (co_await house.start(*before))->subscribe();
    house.keeper.inside(id).latest().say("unread ");
    co_await House::turns();
    house.clock.pass(40s);
    co_await house.restart();
    FakeInside& inside = house.keeper.inside(id);
    const auto sandbox = house.sandboxes->find(id, "default");
    EXPECT_EQ(sandbox->record().state, SandboxState::running);
    EXPECT_EQ(sandbox->record().access_token, token);
    EXPECT_FALSE(policy::decide_name(*house.egress.attached.at(id), "a.test", {}).allows());
    EXPECT_EQ(house.log.count("sandbox.reattached"), 1u);
    EXPECT_EQ(sandbox->processes().alive().size(), 1u);

    const auto process = sandbox->processes().alive().front();
    EXPECT_EQ(process->request().argv, House::plain().argv);
    inside.latest().say("and new");
    co_await House::turns();
    auto subscription = process->subscribe();
    inside.latest().exit(5);
    std::string text;
    const ProcessEnd end = co_await read_all(*subscription, text);
    EXPECT_EQ(text, "unread and new");
    EXPECT_EQ(end.exit_code, 5);
    const Event* exited = house.log.last("command.exited");
    EXPECT_TRUE(exited->fields.at("since_restart").as_bool());
    EXPECT_EQ(exited->fields.at("command").as_string(), house.log.last("command.requested")->id);

    co_await house.pass(59s);
    EXPECT_EQ(sandbox->record().state, SandboxState::running);
    co_await house.pass(2s);
    EXPECT_EQ(sandbox->record().state, SandboxState::ended);  // its time went on
}
TEST(Recovery, JoinsWhatLivesWithItsProcessesAndItsTime) {
    in_house(restart_story);
}

// Otherwise whoever may restart oyatd, or waits for it, could keep a sandbox for ever.
Task<> longest_over_restarts(House& house) {
    CreateRequest request;
    request.timeout = 1h;
    const std::string id = (co_await house.create(request))->record().id;
    house.clock.pass(30min);
    co_await house.restart();
    co_await house.sandboxes->set_timeout(id, 100h, TimeoutMode::replace, House::somebody());
    EXPECT_EQ(house.sandboxes->find(id, "default")->record().end_at, house.clock.wall() + 90min);
}
TEST(Recovery, CountsTheTimeBeforeItTowardsTheOperatorsMaximum) {
    in_house(longest_over_restarts, {.max_life = 2h});
}

Task<> resumed_while_joined(House& house) {
    const auto sandbox = co_await house.create();
    const std::string id = sandbox->record().id;
    co_await house.start(*sandbox);
    FakeInside& inside = house.keeper.inside(id);
    inside.greetings = 0;
    inside.hello_is_slow = true;
    inside.lose("broken");
    co_await House::turns();
    co_await house.sandboxes->pause(id, Keep::memory, House::somebody());
    TaskGroup client{house.executor};
    const auto connect = [](House& where, std::string what) -> Task<> {
        co_await where.sandboxes->connect(what, std::nullopt, Keep::memory, House::somebody());
    };
    client.spawn(connect(house, id));
    co_await House::turns();
    inside.hello_is_slow = false;
    co_await client.wait_idle();
    EXPECT_EQ(inside.greetings, 1);
    EXPECT_EQ(sandbox->record().state, SandboxState::running);
    EXPECT_EQ(sandbox->processes().alive().size(), 1u);
    co_await client.close();
}
TEST(Recovery, GreetsAnAgentOnceAlsoWhenItsSandboxIsResumedMeanwhile) {
    in_house(resumed_while_joined);
}

Task<> died_meanwhile(House& house) {
    const auto sandbox = co_await house.create();
    const std::string id = sandbox->record().id;
    house.keeper.boxes.erase(id);
    co_await house.restart();
    EXPECT_EQ(house.sandboxes->ended(id, "default")->ended_by, EndedBy::crash);
    EXPECT_EQ(house.store.records.at(id).state, SandboxState::ended);
    EXPECT_EQ(house.log.last("sandbox.ended")->sandbox, id);
    co_await house.restart();
    EXPECT_EQ(house.log.count("sandbox.ended"), 1u);
    EXPECT_EQ(house.sandboxes->ended(id, "default")->ended_by, EndedBy::crash);
}
TEST(Recovery, EndsWhatDiedMeanwhile) {
    in_house(died_meanwhile);
}

Task<> rebooted(House& house) {
    const auto sandbox = co_await house.create();
    const std::string id = sandbox->record().id;
    house.keeper.boxes.erase(id);
    house.store.records.at(id).started = WallTime{};  // long before this machine was started
    co_await house.restart();
    EXPECT_EQ(house.sandboxes->ended(id, "default")->ended_by, EndedBy::server);
}
TEST(Recovery, BlamesTheServerForARestartOfTheMachine) {
    in_house(rebooted);
}

Task<> half_done(House& house) {
    const auto killed = co_await house.create();
    const auto paused = co_await house.create();
    house.store.records.at(killed->record().id).state = SandboxState::ending;
    house.store.records.at(killed->record().id).ended_by = EndedBy::timeout;
    house.keeper.boxes.at(paused->record().id).facts.frozen = true;  // and the record says running
    co_await house.keeper.create({.owner_tag = "never-acknowledged"});
    co_await house.restart();
    EXPECT_EQ(house.sandboxes->ended(killed->record().id, "default")->ended_by, EndedBy::timeout);
    EXPECT_EQ(house.sandboxes->find(paused->record().id, "default")->record().state, SandboxState::paused);
    EXPECT_EQ(house.keeper.boxes.size(), 1u);
}
TEST(Recovery, FinishesHalfDoneChangesAndEndsWhatNobodyKnows) {
    in_house(half_done);
}

Task<> paused_story(House& house) {
    const auto sandbox = co_await house.create();
    const std::string id = sandbox->record().id;
    co_await house.start(*sandbox);
    co_await house.sandboxes->pause(id, Keep::memory, House::somebody());
    house.keeper.inside(id).hello = false;  // a frozen agent answers nothing
    co_await house.restart();
    EXPECT_EQ(house.sandboxes->find(id, "default")->record().state, SandboxState::paused);
    house.keeper.inside(id).hello = true;
    co_await house.sandboxes->connect(id, 60s, Keep::memory, House::somebody());
    EXPECT_EQ(house.sandboxes->find(id, "default")->processes().alive().size(), 1u);
}
TEST(Recovery, LeavesThePausedPaused) {
    in_house(paused_story);
}

Task<> many(House& house) {
    for (int i = 0; i < 100; ++i) co_await house.create();
    co_await house.restart();
    EXPECT_EQ(house.sandboxes->list({.tenant = "default"}).size(), 100u);
    EXPECT_EQ(house.keeper.attached, 100);
    co_await house.sandboxes->end_all(EndedBy::server);
    EXPECT_TRUE(house.keeper.boxes.empty());
}
TEST(Recovery, JoinsManySideBySide) {
    in_house(many);
}

}  // namespace
}  // namespace oyat::core
