#include "core/command.hpp"

#include "core/test_scene.hpp"

namespace oyat::core {
namespace {

using namespace std::chrono_literals;

Task<> rejoined(House& house) {
    auto [sandbox, inside] = co_await scene(house);
    const auto process = co_await house.start(*sandbox);
    const auto other = co_await house.start(*sandbox);
    auto subscription = process->subscribe();
    FakeProgram& program = inside.program(process->pid());
    program.say("before ");
    co_await subscription->next();
    inside.programs.erase(other->pid());
    inside.lose("the connection broke");
    co_await House::turns();
    EXPECT_EQ(inside.connections, 2);
    program.say("after");
    program.exit(0);
    std::string text;
    const ProcessEnd end = co_await read_all(*subscription, text);
    EXPECT_EQ(
        text,
        "after");  // the agent gave "before" once more, as it was not acknowledged; nobody is told twice
    EXPECT_EQ(text_of(*house.log.last("command.exited"), "stdout"), "before after");
    EXPECT_EQ(end.exit_code, 0);
    EXPECT_TRUE(other->end());
    EXPECT_EQ(sandbox->record().state, SandboxState::running);
    EXPECT_EQ(house.log.count("agent.lost"), 1u);
}
TEST(Agent, ThatIsLostIsJoinedAgainAndItsProcessesGoOn) {
    in_house(rejoined);
}

Task<> rejoined_slowly(House& house) {
    auto [sandbox, inside] = co_await scene(house);
    const auto process = co_await house.start(*sandbox);
    auto slow = process->subscribe();
    FakeProgram& program = inside.latest();
    for (const char* word : {"one ", "two ", "three "}) program.say(word);
    co_await House::turns();  // the pump waits for the subscriber
    inside.lose("the connection broke");
    co_await House::turns();
    program.exit(0);
    std::string text;
    const ProcessEnd end = co_await read_all(*slow, text);
    EXPECT_EQ(text, "one two three ");
    EXPECT_EQ(end.exit_code, 0);
    EXPECT_EQ(house.log.count("command.exited"), 1u);
}
TEST(Agent, ThatIsLostWhileASubscriberIsSlowGivesItsOutputOnce) {
    in_house(rejoined_slowly);
}

Task<> liar(House& house) {
    auto [sandbox, inside] = co_await scene(house);
    inside.breaks_protocol = true;
    inside.lose("the agent broke its protocol: frame over the cap");
    co_await House::turns();
    const auto record = house.sandboxes->ended(sandbox->record().id, "default");
    EXPECT_EQ(record->ended_by, EndedBy::crash);
    EXPECT_NE(record->ended_detail.find("broke its protocol"), std::string::npos);
    EXPECT_EQ(house.log.last("sandbox.ended")->fault, Fault::agent);
}
TEST(Agent, ThatBreaksItsProtocolIsNotTriedAgain) {
    in_house(liar);
}

Task<> mute(House& house) {
    auto [sandbox, inside] = co_await scene(house);
    inside.hello = false;
    inside.lose("no sign of life for 10 s");
    // It has ended a moment before it stands among those that have.
    const std::string id = sandbox->record().id;
    while (!house.sandboxes->ended(id, "default")) co_await sleep_for(10ms);
    EXPECT_EQ(house.sandboxes->ended(id, "default")->ended_by, EndedBy::crash);
}
TEST(Agent, ThatStaysSilentEndsItsSandbox) {
    in_house(mute);
}

}  // namespace
}  // namespace oyat::core
