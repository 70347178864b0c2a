#include "core/brakes.hpp"

#include "core/test_house.hpp"

// The operator's brakes, over a keeper that is played: what clients can't lift, and what survives whom.
namespace oyat::core {
namespace {

using Brake = BrakeOrder::Brake;

Principal operator_() {
    return {
        .key_id = "key_op", .tenant = "default", .scopes = 0x8, .client = "oyat-cli", .protocol = "native"};
}

BrakeOrder one(Brake brake, const std::string& id) {
    return {.brake = brake, .ids = {id}};
}

TEST(Brakes, AHeldSandboxIsPausedAndOnlyTheOperatorLetsItGo) {
    in_house([](House& house) -> Task<> {
        const auto sandbox = co_await house.create();
        const std::string id = sandbox->record().id;
        co_await house.sandboxes->pull(one(Brake::hold, id), operator_());
        EXPECT_EQ(sandbox->record().state, SandboxState::paused);
        EXPECT_TRUE(sandbox->record().held);
        const Error resume =
            co_await error_of(house.sandboxes->connect(id, std::nullopt, Keep::memory, House::somebody()));
        EXPECT_EQ(resume.code(), Errc::failed_precondition);
        EXPECT_EQ(resume.fault(), Fault::oyat_operator);
        EXPECT_NE(resume.message().find("held by the operator"), std::string::npos);
        const Error kill = co_await error_of(house.sandboxes->kill(id, House::somebody(), EndedBy::killed));
        EXPECT_EQ(kill.code(), Errc::failed_precondition);
        EXPECT_TRUE(house.keeper.boxes.contains(id));

        co_await house.sandboxes->pull(one(Brake::release, id), operator_());
        EXPECT_EQ(sandbox->record().state, SandboxState::running);
        EXPECT_EQ(house.log.count("brake.pulled"), 1u);
        EXPECT_EQ(house.log.count("sandbox.held"), 1u);
        EXPECT_EQ(house.log.count("sandbox.released"), 1u);
    });
}

TEST(Brakes, WhatItsClientsHadPausedStaysPausedWhenItIsLetGo) {
    in_house([](House& house) -> Task<> {
        const auto sandbox = co_await house.create();
        const std::string id = sandbox->record().id;
        co_await house.sandboxes->pause(id, Keep::memory, House::somebody());
        co_await house.sandboxes->pull(one(Brake::hold, id), operator_());
        co_await house.sandboxes->pull(one(Brake::release, id), operator_());
        EXPECT_EQ(sandbox->record().state, SandboxState::paused);
        EXPECT_TRUE(co_await house.sandboxes->connect(id, std::nullopt, Keep::memory, House::somebody()));
    });
}

TEST(Brakes, TheTimeOfAHeldSandboxDoesNotRunOut) {
    in_house([](House& house) -> Task<> {
        CreateRequest request;
        request.timeout = std::chrono::seconds{10};
        const auto sandbox = co_await house.create(request);
        co_await house.sandboxes->pull(one(Brake::hold, sandbox->record().id), operator_());
        co_await house.pass(std::chrono::hours{1});
        EXPECT_EQ(sandbox->record().state, SandboxState::paused);
    });
}

TEST(Brakes, EgressIsCutForOneAndForAllAndForThoseToCome) {
    in_house([](House& house) -> Task<> {
        const std::string first = (co_await house.create())->record().id;
        const std::string other = (co_await house.create())->record().id;
        co_await house.sandboxes->pull(one(Brake::cut_egress, first), operator_());
        EXPECT_TRUE(house.egress.attached.at(first)->cut);
        EXPECT_FALSE(house.egress.attached.at(other)->cut);
        co_await house.sandboxes->pull({.brake = Brake::cut_egress, .all = true}, operator_());
        EXPECT_TRUE(house.egress.attached.at(other)->cut);
        const std::string late = (co_await house.create())->record().id;
        EXPECT_TRUE(house.egress.attached.at(late)->cut);
        co_await house.restart();
        EXPECT_TRUE(house.sandboxes->egress_off());
        EXPECT_TRUE(house.egress.attached.at(late)->cut);
        co_await house.sandboxes->pull({.brake = Brake::open_egress, .all = true}, operator_());
        for (const std::string& id : {first, other, late}) EXPECT_FALSE(house.egress.attached.at(id)->cut);
    });
}

TEST(Brakes, EgressIsCutAlsoWhenTheKeeperIsAway) {
    in_house([](House& house) -> Task<> {
        const std::string id = (co_await house.create())->record().id;
        house.keeper.away = true;
        const Error error =
            co_await error_of(house.sandboxes->pull({.brake = Brake::cut_egress, .all = true}, operator_()));
        EXPECT_EQ(error.code(), Errc::unavailable);
        EXPECT_TRUE(house.egress.attached.at(id)->cut);
        // And kept, as soon as the keeper is back.
        house.keeper.away = false;
        house.keeper.notice({.kind = KeeperNotice::Kind::link_back});
        co_await House::turns();
        EXPECT_TRUE(house.keeper.stop.egress_off);
        EXPECT_TRUE(house.egress.attached.at(id)->cut);
    });
}

TEST(Brakes, BrakesThatWerePulledPastUsAreHeeded) {
    in_house([](House& house) -> Task<> {
        const auto sandbox = co_await house.create();
        const std::string id = sandbox->record().id;
        co_await house.keeper.pull_brake({.brake = Brake::hold, .all = true});
        co_await house.keeper.pull_brake({.brake = Brake::cut_egress, .all = true});
        house.keeper.notice({.kind = KeeperNotice::Kind::brakes});
        co_await House::turns();
        EXPECT_EQ(sandbox->record().state, SandboxState::paused);
        EXPECT_TRUE(sandbox->record().held);
        EXPECT_TRUE(house.egress.attached.at(id)->cut);
        EXPECT_TRUE(house.sandboxes->stopped());
    });
}

TEST(Brakes, AHoldOutlivesUs) {
    in_house([](House& house) -> Task<> {
        const std::string id = (co_await house.create())->record().id;
        co_await house.sandboxes->pull({.brake = Brake::hold, .all = true}, operator_());
        co_await house.restart();
        const auto sandbox = house.sandboxes->find(id, "default");
        EXPECT_EQ(sandbox->record().state, SandboxState::paused);
        const Error error =
            co_await error_of(house.sandboxes->connect(id, std::nullopt, Keep::memory, House::somebody()));
        EXPECT_EQ(error.code(), Errc::failed_precondition);
        co_await house.sandboxes->pull({.brake = Brake::release, .all = true}, operator_());
        EXPECT_EQ(sandbox->record().state, SandboxState::running);
    });
}

TEST(Brakes, PuttingDownEndsAHeldSandboxAndSaysWho) {
    in_house([](House& house) -> Task<> {
        const std::string id = (co_await house.create())->record().id;
        co_await house.sandboxes->pull(one(Brake::hold, id), operator_());
        co_await house.sandboxes->put_down(id, operator_());
        EXPECT_FALSE(house.keeper.boxes.contains(id));
        EXPECT_EQ(house.sandboxes->ended(id, "default")->ended_by, EndedBy::oyat_operator);
        EXPECT_EQ(house.log.last("sandbox.ended")->fields.at("key").as_string(), "key_op");
    });
}

TEST(Brakes, WhatTheOperatorEndedPastUsIsNoCrash) {
    in_house([](House& house) -> Task<> {
        const std::string id = (co_await house.create())->record().id;
        co_await house.keeper.kill(id);
        house.keeper.stop.killed = {id};
        co_await house.restart();
        EXPECT_EQ(house.sandboxes->ended(id, "default")->ended_by, EndedBy::oyat_operator);
    });
}

TEST(Brakes, WhatAStoppedKeyIsMakingComesToNothing) {
    in_house([](House& house) -> Task<> {
        house.sandboxes->stop_creates_of("key_1");
        const Error error = co_await error_of(house.create());
        EXPECT_EQ(error.code(), Errc::denied);
        EXPECT_TRUE(house.keeper.boxes.empty());
    });
}

TEST(Brakes, AFullRecordStopsNoBrake) {
    in_house([](House& house) -> Task<> {
        const auto sandbox = co_await house.create();
        house.log.refuses = true;
        co_await house.sandboxes->pull({.brake = Brake::hold, .all = true}, operator_());
        EXPECT_TRUE(sandbox->record().held);
        house.log.refuses = false;
    });
}

}  // namespace
}  // namespace oyat::core
