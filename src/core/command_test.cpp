#include "core/command.hpp"

#include <signal.h>

#include <boost/json/serialize.hpp>

#include "core/test_scene.hpp"

namespace oyat::core {
namespace {

using namespace std::chrono_literals;

Task<> whole_command(House& house) {
    auto [sandbox, inside] = co_await scene(house);
    RunRequest request = House::plain();
    request.env = {{"PASSWORD", "hidden"}};
    request.forced_env = {{"FORCED", "1"}};
    request.wall = 60s;
    request.tag = "tag";
    const auto process = co_await house.start(*sandbox, request);
    FakeProgram& program = inside.latest();
    EXPECT_EQ(program.order.forced_env.at("FORCED"), "1");
    EXPECT_EQ(program.order.wall, 60s);
    EXPECT_EQ(sandbox->processes().find(process->pid()), process);
    EXPECT_EQ(sandbox->processes().find_tag("tag"), process);
    EXPECT_EQ(sandbox->processes().alive().size(), 1u);

    auto subscription = process->subscribe();
    program.say("out");
    program.say("err", OutputChannel::err);
    program.exit(3);
    std::string text;
    const ProcessEnd end = co_await read_all(*subscription, text);
    EXPECT_EQ(text, "outerr");
    EXPECT_EQ(end.exit_code, 3);
    EXPECT_EQ(end.fault, Fault::command);

    const Event* requested = house.log.last("command.requested");
    const Event* started = house.log.last("command.started");
    const Event* exited = house.log.last("command.exited");
    EXPECT_EQ(started->fields.at("command").as_string(), requested->id);
    EXPECT_EQ(exited->fields.at("command").as_string(), requested->id);
    EXPECT_EQ(requested->fields.at("verdict").as_object().at("action").as_string(), "allow");
    EXPECT_EQ(requested->fields.at("key").as_string(), "key_1");
    EXPECT_EQ(exited->by, Witness::agent);
    EXPECT_EQ(exited->id, end.event_id);
    EXPECT_EQ(exited->fields.at("exit").to_number<int>(), 3);
    EXPECT_EQ(text_of(*exited, "stdout"), "out");
    EXPECT_EQ(text_of(*exited, "stderr"), "err");
    for (const Event& each : house.log.events) {
        EXPECT_EQ(boost::json::serialize(each.fields).find("hidden"), std::string::npos) << each.type;
    }
    EXPECT_TRUE(sandbox->processes().alive().empty());
    EXPECT_EQ(sandbox->processes().find(process->pid()), process);  // for half a minute
    house.clock.pass(31s);
    co_await house.sandboxes->take_samples();
    EXPECT_EQ(sandbox->processes().find(process->pid()), nullptr);
}
TEST(Command, IsRecordedFromRequestToExitWithItsOutput) {
    in_house(whole_command);
}

Task<> refusals(House& house) {
    auto [sandbox, inside] = co_await scene(house);
    RunRequest request;
    EXPECT_EQ((co_await error_of(house.start(*sandbox, request))).code(), Errc::invalid_argument);
    request.argv = {std::string("a\0b", 3)};
    Error error = co_await error_of(house.start(*sandbox, request));
    EXPECT_EQ(error.code(), Errc::invalid_argument);
    EXPECT_EQ(error.event(), house.log.last("command.denied")->id);
    EXPECT_EQ(house.log.last("command.requested")->fields.at("verdict").as_object().at("action").as_string(),
              "deny");

    inside.spawn_fails =
        Error{Errc::exhausted, Fault::limit, "fork: Resource temporarily unavailable"}.of_limit("processes");
    error = co_await error_of(house.start(*sandbox));
    EXPECT_EQ(error.code(), Errc::exhausted);
    EXPECT_TRUE(error.message().starts_with("process limit reached (1024)")) << error.message();
    EXPECT_EQ(house.log.last("limit.hit")->fields.at("limit").as_string(), "processes");
    EXPECT_EQ(house.log.last("command.failed")->fault, Fault::limit);

    inside.spawn_fails =
        Error{Errc::exhausted, Fault::limit, "clone: Cannot allocate memory"}.of_limit("memory");
    error = co_await error_of(house.start(*sandbox));
    EXPECT_EQ(error.message(), "memory limit reached (2 GiB): clone: Cannot allocate memory");
    EXPECT_EQ(house.log.last("limit.hit")->fields.at("limit").as_string(), "memory");

    inside.spawn_fails = Error{Errc::exhausted, Fault::limit, "too many open files"};
    EXPECT_EQ((co_await error_of(house.start(*sandbox))).message(), "too many open files");

    inside.spawn_fails = Error{Errc::invalid_argument, "cwd '/nope' does not exist"};
    error = co_await error_of(house.start(*sandbox));
    EXPECT_EQ(error.message(), "cwd '/nope' does not exist");

    inside.spawn_fails.reset();
    house.log.refuses = true;
    EXPECT_EQ((co_await error_of(house.start(*sandbox))).fault(), Fault::oyat_operator);
    EXPECT_TRUE(inside.programs.empty());  // nothing runs that cannot be recorded
    house.log.refuses = false;
}
TEST(Command, ThatCannotStartSaysWhyInErrorAndRecord) {
    in_house(refusals);
}

// The record fails between the request, which is in it, and the start, which cannot be undone.
Task<> unrecorded_start(House& house) {
    auto [sandbox, inside] = co_await scene(house);
    inside.spawn_is_slow = true;
    TaskGroup client{house.executor};
    std::shared_ptr<Process> process;
    const auto start = [](House& where, Sandbox& in, std::shared_ptr<Process>& into) -> Task<> {
        into = co_await where.start(in);
    };
    client.spawn(start(house, *sandbox, process));
    co_await House::turns();
    house.log.refuses = true;
    inside.spawn_is_slow = false;
    co_await client.wait_idle();
    house.log.refuses = false;
    EXPECT_TRUE(process) << "it runs, so its caller must hear of it";
    inside.latest().exit(0);
    co_await House::turns();
    EXPECT_TRUE(sandbox->processes().alive().empty());
    EXPECT_NE(house.log.last("command.exited"), nullptr);
    co_await client.close();
}
TEST(Command, ThatRunsIsFollowedThoughItsStartCouldNotBeRecorded) {
    in_house(unrecorded_start);
}

Task<> limits(House& house) {
    auto [sandbox, inside] = co_await scene(house);
    co_await house.start(*sandbox);
    RunRequest terminal = House::plain();
    terminal.pty = TermSize{};
    const auto pty = co_await house.start(*sandbox, terminal);
    EXPECT_NE((co_await error_of(house.start(*sandbox, terminal))).message().find("terminals"),
              std::string::npos);
    co_await house.start(*sandbox);
    EXPECT_EQ((co_await error_of(house.start(*sandbox))).code(), Errc::exhausted);
    inside.program(pty->pid()).exit(0);
    co_await House::turns();
    co_await house.start(*sandbox, terminal);
}
TEST(Command, IsOneOfSoManyAtOnce) {
    in_house(limits, {.max_commands = 3, .max_ptys = 1});
}

Task<> end_of(House& house, Sandbox& sandbox, FakeInside& inside, ExitReport report, ProcessEnd& end,
              std::function<void(const std::string& id)> meanwhile = {}) {
    const auto process = co_await house.start(sandbox);
    auto subscription = process->subscribe();
    co_await House::turns();
    if (meanwhile) meanwhile(sandbox.record().id);
    inside.latest().end(report);
    std::string text;
    end = co_await read_all(*subscription, text);
}

Task<> causes(House& house) {
    auto [sandbox, inside] = co_await scene(house);
    BoxUsage& usage = house.keeper.boxes.at(sandbox->record().id).usage;
    usage.disk_limit = 10u << 30;
    ProcessEnd end;

    co_await end_of(house, *sandbox, inside, {.exit_code = 0}, end);
    EXPECT_FALSE(end.fault);

    co_await end_of(house, *sandbox, inside, {.exit_code = -1, .signal = SIGKILL, .timed_out = true}, end);
    EXPECT_EQ(end.limit, "wall");
    EXPECT_EQ(end.fault, Fault::limit);
    EXPECT_TRUE(house.log.last("command.exited")->fields.at("timed_out").as_bool());

    co_await end_of(house, *sandbox, inside, {.exit_code = -1, .signal = SIGKILL, .killed_by_api = true},
                    end);
    EXPECT_EQ(end.fault, Fault::client);

    // The keeper's notice comes first, and names the process.
    co_await end_of(
        house, *sandbox, inside, {.exit_code = -1, .signal = SIGKILL}, end, [&](const std::string& id) {
            house.keeper.notice({.kind = KeeperNotice::Kind::oom, .id = id, .process = "x", .count = 1});
            usage.oom_kills = 1;
        });
    EXPECT_TRUE(end.oom);
    EXPECT_EQ(end.limit, "memory");
    EXPECT_TRUE(house.log.last("command.exited")->fields.at("oom").as_bool());

    // The notice is late, or lost: the counters tell. A shell reports its child's death as 137.
    co_await end_of(house, *sandbox, inside, {.exit_code = 137}, end,
                    [&](const std::string&) { usage.oom_kills = 2; });
    EXPECT_TRUE(end.oom);

    // An old kill explains no new failure.
    house.clock.pass(1min);
    co_await end_of(house, *sandbox, inside, {.exit_code = -1, .signal = SIGKILL}, end);
    EXPECT_FALSE(end.oom);
    EXPECT_EQ(end.fault, Fault::command);

    co_await end_of(house, *sandbox, inside, {.exit_code = 254}, end,
                    [&](const std::string&) { usage.processes_denied = 7; });
    EXPECT_EQ(end.limit, "processes");

    co_await end_of(house, *sandbox, inside, {.exit_code = 1}, end,
                    [&](const std::string&) { usage.disk_used = usage.disk_limit; });
    EXPECT_EQ(end.limit, "disk");
    EXPECT_EQ(house.log.last("limit.hit")->fields.at("limit").as_string(), "disk");
}
TEST(Command, ThatFailedIsExplainedByTheLimitItHit) {
    in_house(causes);
}

// btrfs counts late: what it says may be of a time when the disk was full and nobody had made room yet.
Task<> late_counts(House& house) {
    auto [sandbox, inside] = co_await scene(house);
    BoxUsage& usage = house.keeper.boxes.at(sandbox->record().id).usage;
    usage.disk_limit = usage.disk_used = 10u << 20;
    ProcessEnd end;
    co_await end_of(house, *sandbox, inside, {.exit_code = 1}, end);
    EXPECT_EQ(end.limit, "disk");

    co_await end_of(house, *sandbox, inside, {.exit_code = 1}, end);
    EXPECT_EQ(end.limit, "") << "the count is the one from before it started";
    EXPECT_EQ(end.fault, Fault::command);

    co_await end_of(house, *sandbox, inside, {.exit_code = 1}, end,
                    [&](const std::string&) { usage.disk_used -= 4096; });
    EXPECT_EQ(end.limit, "disk") << "counted again meanwhile, and still full";

    co_await end_of(house, *sandbox, inside, {.exit_code = 1}, end,
                    [&](const std::string&) { house.clock.pass(31s); });
    EXPECT_EQ(end.limit, "disk") << "no count is as old as this command";

    co_await end_of(house, *sandbox, inside, {.exit_code = 1}, end,
                    [&](const std::string&) { usage.disk_used = 4096; });
    EXPECT_EQ(end.limit, "");
}
TEST(Command, IsNotExplainedByAnOldCountOfTheDisk) {
    in_house(late_counts);
}

Task<> exact_counts(House& house) {
    auto [sandbox, inside] = co_await scene(house);
    BoxUsage& usage = house.keeper.boxes.at(sandbox->record().id).usage;
    usage.disk_limit = usage.disk_used = 10u << 20;
    ProcessEnd end;
    for (int again = 0; again < 2; ++again) {
        co_await end_of(house, *sandbox, inside, {.exit_code = 1}, end);
        EXPECT_EQ(end.limit, "disk");
    }
}
TEST(Command, IsExplainedByADiskThatIsFullWhereTheCountIsExact) {
    in_house([](House& house) -> Task<> {
        house.keeper.disk_limit_by = "project-quota";
        co_await exact_counts(house);
    });
}

}  // namespace
}  // namespace oyat::core
