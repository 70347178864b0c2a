#include "keeper/brakes.hpp"

#include <sys/stat.h>

#include "keeper/test_keeper.hpp"

// What the operator does at the keeper's own door, with oyatd and without, and what outlives whom.
namespace oyat::keeper::test {
namespace {

using wire::Brake;

class BrakesTest : public KeeperProcessTest {
protected:
    // A visit to the operator's door.
    Answer operator_asks(wire::KeeperRequest request) const {
        return Client{keeper->dir + "/keeper/operator.sock"}.ask(std::move(request));
    }
    static wire::KeeperRequest all(Brake brake) {
        return {.brake = wire::PullBrake{.brake = brake, .all = true}};
    }
    static wire::KeeperRequest one(Brake brake, const std::string& id) {
        return {.brake = wire::PullBrake{.brake = brake, .ids = {id}}};
    }
    static wire::KeeperRequest freeze_order(const std::string& id, bool frozen) {
        return {.freeze = wire::FreezeBox{.id = id, .frozen = frozen}};
    }
    static wire::Box only_box(Client& oyatd) {
        return oyatd.ask({.list = wire::ListBoxes{}}).reply.boxes->boxes.at(0);
    }
    // "FROZEN" or "frozen 1", whichever hierarchy freezes.
    std::string freezer_state(const std::string& id) const {
        return output_of(
            "for group in $(find /sys/fs/cgroup -type d -path '*oyat-" + keeper->state_id() + "/" + id +
            "'); do cat $group/freezer.state 2>/dev/null; grep frozen $group/cgroup.events 2>/dev/null; "
            "done; true");
    }
};

TEST_F(BrakesTest, WhatIsHeldStandsStillWhateverOyatdOrders) {
    keeper->start();
    Client oyatd = keeper->client();
    const std::string id = oyatd.ask(create_order(keeper->digest)).reply.created->box.id;
    ASSERT_EQ(operator_asks(one(Brake::hold, id)).reply.brakes->held, 1U);
    EXPECT_NE(freezer_state(id).find_first_of("F1"), std::string::npos) << freezer_state(id);
    EXPECT_EQ(oyatd.ask(freeze_order(id, false)).reply.code, code(Errc::failed_precondition));
    EXPECT_TRUE(only_box(oyatd).held);
    EXPECT_NO_THROW(oyatd.wait_for(wire::EventKind::brakes));

    ASSERT_EQ(operator_asks(one(Brake::release, id)).reply.code, 0U);
    EXPECT_FALSE(only_box(oyatd).held);
    EXPECT_EQ(freezer_state(id).find_first_of("F1"), std::string::npos) << freezer_state(id);
}

TEST_F(BrakesTest, APauseThatCameWithAHoldStaysWhenItIsLetGo) {
    keeper->start();
    Client oyatd = keeper->client();
    const std::string id = oyatd.ask(create_order(keeper->digest)).reply.created->box.id;
    (void)operator_asks(one(Brake::hold, id));
    ASSERT_EQ(oyatd.ask(freeze_order(id, true)).reply.code, 0U);
    (void)operator_asks(one(Brake::release, id));
    EXPECT_NE(freezer_state(id).find_first_of("F1"), std::string::npos);
    ASSERT_EQ(oyatd.ask(freeze_order(id, false)).reply.code, 0U);
    EXPECT_EQ(freezer_state(id).find_first_of("F1"), std::string::npos);
}

TEST_F(BrakesTest, BrakesOutliveTheKeeper) {
    keeper->start();
    std::string id;
    {
        Client oyatd = keeper->client();
        id = oyatd.ask(create_order(keeper->digest)).reply.created->box.id;
        (void)operator_asks(all(Brake::hold));
        (void)operator_asks(all(Brake::cut_egress));
    }
    keeper->kill_hard();
    keeper->start();
    Client oyatd = keeper->client();
    const wire::BrakeFacts facts = *oyatd.ask({.brakes = wire::GetBrakes{}}).reply.brakes;
    EXPECT_TRUE(facts.stopped);
    EXPECT_TRUE(facts.egress_off);
    EXPECT_TRUE(only_box(oyatd).held);
    EXPECT_EQ(oyatd.ask(freeze_order(id, false)).reply.code, code(Errc::failed_precondition));
    EXPECT_EQ(oyatd.ask(create_order(keeper->digest)).reply.code, code(Errc::unavailable));
    (void)operator_asks(all(Brake::release));
    EXPECT_EQ(oyatd.ask(create_order(keeper->digest)).reply.code, 0U);
    (void)operator_asks(all(Brake::open_egress));
    EXPECT_FALSE(oyatd.ask({.brakes = wire::GetBrakes{}}).reply.brakes->egress_off);
}

TEST_F(BrakesTest, AHeldBoxCanBeKilledAndItIsKnownWhoDidIt) {
    keeper->start();
    Client oyatd = keeper->client();
    const Answer made = oyatd.ask(create_order(keeper->digest));
    const std::string id = made.reply.created->box.id;
    (void)operator_asks(one(Brake::hold, id));
    ASSERT_EQ(operator_asks(kill_order(id)).reply.code, 0U);
    EXPECT_FALSE(alive(made.fds[1]));
    EXPECT_EQ(oyatd.ask({.brakes = wire::GetBrakes{}}).reply.brakes->killed, std::vector{id});
    EXPECT_EQ(operator_asks(kill_order(id)).reply.code, code(Errc::not_found));
}

TEST_F(BrakesTest, TheDoorIsRootsAndTakesOnlyWhatStopsOrShows) {
    keeper->start();
    struct stat facts{};
    ASSERT_EQ(::stat((keeper->dir + "/keeper").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 07777, 0700U);
    ASSERT_EQ(::stat((keeper->dir + "/keeper/operator.sock").c_str(), &facts), 0);
    EXPECT_EQ(facts.st_mode & 0777, 0600U);
    for (const wire::KeeperRequest& order :
         {create_order(keeper->digest), info_order(),
          wire::KeeperRequest{.attach = wire::AttachBox{.id = "i00000000000000000000"}}}) {
        EXPECT_THROW((void)operator_asks(order), Error);
    }
    Client hostile{keeper->dir + "/keeper/operator.sock"};
    hostile.send("\xff\xff");
    EXPECT_THROW((void)hostile.receive(), Error);
    EXPECT_EQ(operator_asks({.brakes = wire::GetBrakes{}}).reply.brakes->state_id, keeper->state_id());
}

TEST_F(BrakesTest, AVisitDoesNotDisturbOyatd) {
    keeper->start();
    Client oyatd = keeper->client();
    (void)oyatd.ask(info_order());
    for (int visit = 0; visit < 40; ++visit) (void)operator_asks({.brakes = wire::GetBrakes{}});
    EXPECT_EQ(oyatd.ask(info_order()).reply.code, 0U);
}

TEST_F(BrakesTest, ABrakeIsForAllOrForSomeAndNotForNames) {
    keeper->start();
    for (const wire::PullBrake& order :
         {wire::PullBrake{.brake = Brake::hold},
          wire::PullBrake{.brake = Brake::hold, .all = true, .ids = {"i00000000000000000000"}},
          wire::PullBrake{.brake = Brake::hold, .ids = {"../../etc"}},
          wire::PullBrake{.brake = Brake::none, .all = true}}) {
        EXPECT_EQ(operator_asks({.brake = order}).reply.code, code(Errc::invalid_argument));
    }
    EXPECT_EQ(operator_asks(one(Brake::hold, "i00000000000000000000")).reply.code, 0U);  // is no more
}

}  // namespace
}  // namespace oyat::keeper::test
