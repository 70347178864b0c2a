#include "core/command.hpp"

#include <signal.h>

#include "core/test_scene.hpp"

namespace oyat::core {
namespace {

using namespace std::chrono_literals;

Task<> early_output(House& house) {
    auto [sandbox, inside] = co_await scene(house);
    const auto process = co_await house.start(*sandbox);
    inside.latest().say("quick");
    inside.latest().exit(0);
    co_await House::turns();
    std::string text;
    auto subscription = process->subscribe();
    const ProcessEnd end = co_await read_all(*subscription, text);
    EXPECT_EQ(text, "quick");
    EXPECT_EQ(end.exit_code, 0);
}
TEST(Command, KeepsItsFirstOutputForTheFirstSubscriber) {
    in_house(early_output);
}

Task<> acknowledgement(House& house) {
    auto [sandbox, inside] = co_await scene(house);
    const auto process = co_await house.start(*sandbox);
    auto subscription = process->subscribe();
    FakeProgram& program = inside.latest();
    for (const char* word : {"one", "two", "three"}) program.say(word);
    co_await subscription->next();
    co_await House::turns();
    EXPECT_EQ(program.says.size(), 3u);  // the client may be gone with it: the agent keeps it
    co_await subscription->next();
    co_await House::turns();
    EXPECT_EQ(program.says.size(), 2u);
    program.exit(0);
    co_await subscription->next();
    co_await subscription->next();
    co_await House::turns();
    EXPECT_EQ(inside.programs.size(), 1u);  // the end is kept like the rest
    co_await subscription->next();
    co_await House::turns();
    EXPECT_TRUE(inside.programs.empty());
}
TEST(Command, AcknowledgesWhatASubscriberHasAskedBeyond) {
    in_house(acknowledgement);
}

Task<> input(House& house) {
    auto [sandbox, inside] = co_await scene(house);
    const auto closed = co_await house.start(*sandbox);
    EXPECT_EQ((co_await error_of(closed->write_input("x"))).code(), Errc::failed_precondition);
    RunRequest request = House::plain();
    request.stdin_open = true;
    const auto open = co_await house.start(*sandbox, request);
    co_await open->write_input("text");
    EXPECT_EQ(inside.latest().input, "text");
    co_await open->close_input();
    co_await open->close_input();
    EXPECT_TRUE(inside.latest().input_closed);
    EXPECT_EQ((co_await error_of(open->write_input("x"))).code(), Errc::failed_precondition);
    EXPECT_EQ((co_await error_of(open->resize({}))).code(), Errc::failed_precondition);
    RunRequest terminal = House::plain();
    terminal.pty = TermSize{};
    const auto pty = co_await house.start(*sandbox, terminal);
    co_await pty->write_input("ls\n");
    co_await pty->resize({.cols = 100, .rows = 30});
    EXPECT_EQ((co_await error_of(pty->close_input())).code(), Errc::failed_precondition);
    co_await pty->signal(SIGTERM);
    EXPECT_EQ(inside.latest().signals, std::vector<int>{SIGTERM});
    EXPECT_EQ(house.log.last("command.signalled")->fields.at("signal").to_number<int>(), SIGTERM);
}
TEST(Command, TakesInputOnlyWhereItWasOpened) {
    in_house(input);
}

Task<> paused(House& house) {
    auto [sandbox, inside] = co_await scene(house);
    const std::string id = sandbox->record().id;
    const auto process = co_await house.start(*sandbox);
    auto subscription = process->subscribe();
    co_await house.sandboxes->pause(id, Keep::memory, House::somebody());
    EXPECT_EQ((co_await error_of(subscription->next())).code(), Errc::unavailable);
    co_await house.sandboxes->connect(id, std::nullopt, Keep::memory, House::somebody());
    EXPECT_EQ(sandbox->processes().find(process->pid()), process);
    auto again = process->subscribe();
    inside.latest().say("awake");
    inside.latest().exit(0);
    std::string text;
    co_await read_all(*again, text);
    EXPECT_EQ(text, "awake");
}
TEST(Command, OutlivesAPauseAndItsStreamsDoNot) {
    in_house(paused);
}

Task<> killed(House& house) {
    auto [sandbox, inside] = co_await scene(house);
    const auto process = co_await house.start(*sandbox);
    auto subscription = process->subscribe();
    inside.latest().say("half");
    co_await subscription->next();
    co_await house.sandboxes->kill(sandbox->record().id, House::somebody(), EndedBy::killed);
    EXPECT_EQ((co_await error_of(subscription->next())).code(), Errc::unavailable);
    const Event* exited = house.log.last("command.exited");
    EXPECT_EQ(exited->by, Witness::host);
    EXPECT_TRUE(exited->fields.at("exit").is_null());
    EXPECT_EQ(text_of(*exited, "stdout"), "half");
    EXPECT_TRUE(process->end());
    EXPECT_EQ((co_await error_of(process->signal(SIGKILL))).code(), Errc::not_found);
}
TEST(Command, EndsWithItsSandboxAndIsRecordedSo) {
    in_house(killed);
}

Task<> gone_client(House& house) {
    auto [sandbox, inside] = co_await scene(house);
    // The client leaves while the program is being started.
    inside.spawn_is_slow = true;
    std::optional<std::shared_ptr<Process>> nobody;
    co_await race(store_in(nobody, house.start(*sandbox)), yield_now());
    EXPECT_FALSE(nobody);
    inside.spawn_is_slow = false;
    co_await House::turns();
    EXPECT_EQ(sandbox->processes().alive().size(), 1u);
    EXPECT_EQ(house.log.count("command.started"), 1u);
}
TEST(Command, BelongsToTheSandboxNotToTheRequest) {
    in_house(gone_client);
}

}  // namespace
}  // namespace oyat::core
