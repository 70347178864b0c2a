#include "core/test_house.hpp"

// Sandboxes whose engine can put their memory on disk.
namespace oyat::core {
namespace {

using namespace std::chrono_literals;

// From now on the engine can.
Task<> let_it_save(House& house) {
    house.keeper.saves_memory = true;
    house.keeper.engines.at(0).capabilities = {"pause", "memory_snapshot", "memory_fork"};
    co_await house.restart();
}

Task<> asleep(House& house) {
    co_await let_it_save(house);
    const auto sandbox = co_await house.create();
    const std::string id = sandbox->record().id;
    const auto process = co_await house.start(*sandbox);
    const std::uint64_t generation = sandbox->record().generation;
    co_await house.sandboxes->pause(id, Keep::memory, House::somebody());
    EXPECT_TRUE(sandbox->record().stored && sandbox->record().has_memory);
    EXPECT_TRUE(house.keeper.inside(id).quiesced);
    EXPECT_FALSE(process->end());

    co_await house.sandboxes->connect(id, 60s, Keep::memory, House::somebody());
    EXPECT_EQ(sandbox->record().resumed_from, ResumedFrom::memory);
    EXPECT_NE(sandbox->record().generation, generation);
    EXPECT_FALSE(house.keeper.inside(id).quiesced);
    EXPECT_EQ(sandbox->processes().find(process->pid()), process);
    EXPECT_EQ(house.log.count("agent.lost"), 0u);

    co_await house.sandboxes->pause(id, Keep::memory, House::somebody());
    co_await house.sandboxes->connect(id, 60s, Keep::disk, House::somebody());
    EXPECT_EQ(sandbox->record().resumed_from, ResumedFrom::disk);
    EXPECT_TRUE(process->end());
}
TEST(PauseOnDisk, KeepsProcessesWhereTheEngineCan) {
    in_house(asleep);
}

Task<> over_a_restart(House& house) {
    co_await let_it_save(house);
    const auto before = co_await house.create();
    const std::string id = before->record().id;
    co_await house.start(*before);
    co_await house.sandboxes->pause(id, Keep::memory, House::somebody());
    co_await house.restart();
    const auto sandbox = house.sandboxes->find(id, "default");
    EXPECT_TRUE(sandbox->record().has_memory);
    co_await house.sandboxes->connect(id, 60s, Keep::memory, House::somebody());
    EXPECT_EQ(sandbox->processes().alive().size(), 1u);
    EXPECT_EQ(house.keeper.inside(id).renewals.size(), 1u);
}
TEST(PauseOnDisk, WithMemoryOutlivesARestartOfTheServer) {
    in_house(over_a_restart);
}

Task<> killed_meanwhile(House& house) {
    co_await let_it_save(house);
    const std::string id = (co_await house.create())->record().id;
    house.keeper.inside(id).quiesced = true;
    house.store.records.at(id).boundary = "own-kernel";
    co_await house.restart();
    EXPECT_EQ(house.sandboxes->find(id, "default")->record().state, SandboxState::running);
    EXPECT_FALSE(house.keeper.inside(id).quiesced);
}
TEST(PauseOnDisk, ThatWasCutShortByOurEndLeavesNobodyStandingStill) {
    in_house(killed_meanwhile);
}

Task<> obstacle(House& house) {
    co_await let_it_save(house);
    const auto sandbox = co_await house.create();
    const std::string id = sandbox->record().id;
    house.keeper.inside(id).quiesce_fails =
        Error{Errc::failed_precondition, Fault::command, "python3 (pid 12) has a connection to outside"};
    const Error refused = co_await error_of(house.sandboxes->pause(id, Keep::memory, House::somebody()));
    EXPECT_NE(refused.message().find("python3 (pid 12)"), std::string::npos);
    EXPECT_EQ(sandbox->record().state, SandboxState::running);
    EXPECT_FALSE(house.keeper.boxes.at(id).facts.stored);
    co_await house.start(*sandbox);
}
TEST(PauseOnDisk, ThatTheAgentRefusesChangesNothing) {
    in_house(obstacle);
}

Task<> copied(House& house) {
    co_await let_it_save(house);
    const auto sandbox = co_await house.create();
    const std::string id = sandbox->record().id;
    const auto process = co_await house.start(*sandbox);
    auto subscription = process->subscribe();
    const SnapshotRecord snapshot = co_await house.sandboxes->make_snapshot(id, "", House::somebody());
    EXPECT_TRUE(snapshot.memory);
    EXPECT_FALSE(house.keeper.inside(id).quiesced);
    EXPECT_EQ(sandbox->processes().find(process->pid()), process);
    house.keeper.inside(id).latest().say("went on");
    house.keeper.inside(id).latest().exit(0);
    std::string text;
    co_await read_all(*subscription, text);
    EXPECT_EQ(text, "went on");  // whoever listened heard nothing of the copy

    CreateRequest request;
    request.template_ref = snapshot.id;
    const auto copy = co_await house.create(request);
    EXPECT_EQ(house.keeper.inside(copy->record().id).renewals.size(), 1u);
    EXPECT_EQ(house.log.count("agent.lost"), 0u);
}
TEST(Snapshots, WithMemoryLetTheirSourceGoOn) {
    in_house(copied);
}

}  // namespace
}  // namespace oyat::core
