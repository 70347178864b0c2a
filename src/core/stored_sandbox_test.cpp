#include "core/test_house.hpp"

// Sandboxes that are paused on disk.
namespace oyat::core {
namespace {

using namespace std::chrono_literals;

Task<> cold(House& house) {
    const auto sandbox = co_await house.create();
    const std::string id = sandbox->record().id;
    const SandboxRecord before = sandbox->record();
    const auto process = co_await house.start(*sandbox);
    auto subscription = process->subscribe();
    co_await house.sandboxes->pause(id, Keep::disk, House::somebody());
    EXPECT_TRUE(house.keeper.boxes.at(id).facts.stored);
    EXPECT_FALSE(house.egress.attached.contains(id));
    EXPECT_EQ((co_await error_of(subscription->next())).code(), Errc::unavailable);
    EXPECT_EQ(house.log.last("command.exited")->by, Witness::host);
    EXPECT_EQ((co_await error_of(house.sandboxes->pause(id, Keep::disk, House::somebody()))).code(),
              Errc::failed_precondition);

    EXPECT_TRUE(co_await house.sandboxes->connect(id, 60s, Keep::memory, House::somebody()));
    EXPECT_EQ(sandbox->record().resumed_from, ResumedFrom::disk);
    EXPECT_EQ(sandbox->record().access_token, before.access_token);
    EXPECT_FALSE(sandbox->record().stored);
    EXPECT_TRUE(sandbox->processes().alive().empty());
    EXPECT_TRUE(house.egress.attached.contains(id));
    co_await house.start(*sandbox);
    co_await house.sandboxes->kill(id, House::somebody(), EndedBy::killed);
}
TEST(PauseOnDisk, EndsProcessesAndKeepsWhoASandboxIs) {
    in_house(cold);
}

Task<> cold_start(House& house) {
    const auto sandbox = co_await house.create();
    const std::string id = sandbox->record().id;
    co_await house.start(*sandbox);
    co_await house.sandboxes->pause(id, Keep::memory, House::somebody());
    EXPECT_FALSE(sandbox->record().stored);
    co_await house.sandboxes->connect(id, 60s, Keep::disk, House::somebody());
    EXPECT_EQ(sandbox->record().resumed_from, ResumedFrom::disk);
    EXPECT_TRUE(sandbox->processes().alive().empty());
    co_await house.sandboxes->pause(id, Keep::memory, House::somebody());
    co_await house.sandboxes->connect(id, 60s, Keep::memory, House::somebody());
    EXPECT_EQ(sandbox->record().resumed_from, ResumedFrom::memory);
}
TEST(Resume, StartsAnewWhenItIsAskedTo) {
    in_house(cold_start);
}

// The machine was restarted: of what was paused there, the disk is left.
Task<> rebooted(House& house) {
    const std::string id = (co_await house.create())->record().id;
    co_await house.sandboxes->pause(id, Keep::memory, House::somebody());
    BoxFacts& facts = house.keeper.boxes.at(id).facts;
    facts.frozen = false;
    facts.stored = true;
    house.keeper.boxes.at(id).inside = std::make_shared<FakeInside>();
    co_await house.restart();
    const auto sandbox = house.sandboxes->find(id, "default");
    EXPECT_EQ(sandbox->record().state, SandboxState::paused);
    EXPECT_TRUE(sandbox->record().stored);
    EXPECT_EQ(house.keeper.attached, 0);
    co_await house.sandboxes->connect(id, 60s, Keep::memory, House::somebody());
    EXPECT_EQ(sandbox->record().resumed_from, ResumedFrom::disk);
    EXPECT_EQ(house.log.last("sandbox.resumed")->fields.at("from").as_string(), "disk");
}
TEST(Recovery, GivesAPausedSandboxItsDiskAfterARestartOfTheMachine) {
    in_house(rebooted);
}

Task<> at_its_time(House& house) {
    CreateRequest request;
    request.timeout = 10s;
    request.on_timeout = OnTimeout::pause;
    request.pause_keeps = Keep::disk;
    const auto sandbox = co_await house.create(request);
    co_await house.pass(11s);
    EXPECT_EQ(sandbox->record().state, SandboxState::paused);
    EXPECT_TRUE(sandbox->record().stored);
    EXPECT_FALSE(sandbox->record().has_memory);
}
TEST(PauseOnDisk, ComesAtASandboxesTimeWhenThatWasAskedFor) {
    in_house(at_its_time);
}

Task<> lost_answer(House& house) {
    const auto sandbox = co_await house.create();
    const std::string id = sandbox->record().id;
    co_await house.keeper.store(id, false);  // and the keeper ended before it could say so
    house.keeper.notice({.kind = KeeperNotice::Kind::link_back});
    co_await House::turns();
    EXPECT_EQ(sandbox->record().state, SandboxState::paused);
    EXPECT_TRUE(sandbox->record().stored);
    co_await house.sandboxes->connect(id, 60s, Keep::memory, House::somebody());
    EXPECT_EQ(sandbox->record().state, SandboxState::running);
}
TEST(PauseOnDisk, ThatTheKeeperDidBeforeItEndedIsOne) {
    in_house(lost_answer);
}

Task<> walls(House& house) {
    house.keeper.engines.push_back({.name = "microvm", .boundary = "own-kernel", .reason = "no /dev/kvm"});
    co_await house.restart();
    CreateRequest request;
    request.isolation = "microvm";
    const Error absent = co_await error_of(house.create(request));
    EXPECT_NE(absent.message().find("no /dev/kvm; there is jail (shared-kernel)"), std::string::npos)
        << absent.message();
    request.isolation = "auto";
    EXPECT_EQ((co_await house.create(request))->record().engine, "jail");
    request.isolation = "vmware";
    EXPECT_EQ((co_await error_of(house.create(request))).code(), Errc::invalid_argument);
    request.isolation = "jail";
    request.minimum_boundary = "own-kernel";
    EXPECT_EQ((co_await error_of(house.create(request))).code(), Errc::failed_precondition);
    EXPECT_EQ(house.keeper.boxes.size(), 1u);  // nothing was made to be thrown away

    // It was in the middle of being tried out.
    house.keeper.engines.back().available = true;
    CreateRequest later;
    later.isolation = "microvm";
    EXPECT_EQ((co_await house.create(later))->record().engine, "microvm");
}
TEST(Isolation, IsRefusedWithWhatThereIs) {
    in_house(walls);
}

}  // namespace
}  // namespace oyat::core
