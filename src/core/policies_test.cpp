#include "core/policies.hpp"

#include <boost/json/parse.hpp>

#include "core/test_house.hpp"

namespace oyat::core {
namespace {

boost::json::object json(std::string_view text) {
    return boost::json::parse(text).get_object();
}

bool lets_out(const House& house, const std::string& id, std::uint16_t port = 443) {
    const policy::Attempt attempt{
        .address = IpAddress::v4(0xC6336401), .port = port, .name = "a.test", .final = true};
    return decide(*house.egress.attached.at(id), attempt, house.clock.wall()).allows();
}

TEST(Policies, TheWebIsOpenAndMailIsNotUnlessTheOperatorSaysSo) {
    in_house([](House& house) -> Task<> {
        const auto sandbox = co_await house.create();
        const std::string id = sandbox->record().id;
        EXPECT_TRUE(lets_out(house, id));
        EXPECT_FALSE(lets_out(house, id, 25));
        OperatorPolicy operators;
        operators.document = operators.words->preset("open");
        co_await house.sandboxes->set_operator_policy(operators);
        EXPECT_TRUE(lets_out(house, id, 25));
        EXPECT_EQ(sandbox->record().policy_generation, 2u);
    });
}

TEST(Policies, NoInternetIsThePresetOffline) {
    in_house([](House& house) -> Task<> {
        const auto sandbox = co_await house.create({.internet = false});
        EXPECT_FALSE(lets_out(house, sandbox->record().id));
        EXPECT_EQ(sandbox->record().policy, R"({"preset":"offline"})");
    });
}

TEST(Policies, ASandboxesOwnDocumentChangesWhileItLivesAndSurvives) {
    in_house([](House& house) -> Task<> {
        const std::string id = (co_await house.create())->record().id;
        const PolicyChange change = co_await house.sandboxes->set_policy(
            id, {.document = json(R"({"default":"deny"})"), .if_match = 1}, House::somebody());
        EXPECT_EQ(change.generation, 2u);
        EXPECT_FALSE(lets_out(house, id));
        EXPECT_EQ(house.log.last("policy.changed")->fields.at("generation"), 2u);
        EXPECT_EQ(house.log.last("policy.changed")->fields.at("key"), "key_1");
        co_await house.restart();
        EXPECT_FALSE(lets_out(house, id));
        EXPECT_EQ(house.sandboxes->policy(id, "default")->generation, 2u);
        co_await house.sandboxes->set_policy(id, {}, House::somebody());
        EXPECT_TRUE(lets_out(house, id));
    });
}

TEST(Policies, AChangeForAnotherGenerationChangesNothing) {
    in_house([](House& house) -> Task<> {
        const std::string id = (co_await house.create())->record().id;
        const Error error = co_await error_of(house.sandboxes->set_policy(
            id, {.document = json(R"({"default":"deny"})"), .if_match = 7}, House::somebody()));
        EXPECT_EQ(error.code(), Errc::failed_precondition);
        EXPECT_TRUE(lets_out(house, id));
        EXPECT_EQ(
            (co_await error_of(house.sandboxes->set_policy(id, {.document = json("{}")}, House::somebody())))
                .code(),
            Errc::invalid_argument);
        EXPECT_EQ((co_await error_of(house.sandboxes->set_policy(
                       id, {.document = json(R"({"default":"deny"})")}, House::somebody("other"))))
                      .code(),
                  Errc::not_found);
    });
}

TEST(Policies, ATenantsDocumentHoldsForItsSandboxesAlone) {
    in_house([](House& house) -> Task<> {
        const std::string mine = (co_await house.create())->record().id;
        const std::string other =
            (co_await house.sandboxes->create({}, House::somebody("other")))->record().id;
        co_await house.sandboxes->set_policy_above(policy::Layer::tenant, "default",
                                                   json(R"({"preset":"offline"})"), House::somebody());
        EXPECT_FALSE(lets_out(house, mine));
        EXPECT_TRUE(lets_out(house, other));
        co_await house.sandboxes->set_policy(mine, {.document = json(R"({"default":"allow"})")},
                                             House::somebody());
        EXPECT_FALSE(lets_out(house, mine));  // a lower layer only narrows
        co_await house.restart();
        EXPECT_FALSE(lets_out(house, mine));
        EXPECT_FALSE(lets_out(house, (co_await house.create())->record().id));
        co_await house.sandboxes->set_policy_above(policy::Layer::tenant, "default", std::nullopt,
                                                   House::somebody());
        EXPECT_TRUE(lets_out(house, mine));
    });
}

TEST(Policies, ATemplatesDocumentHoldsForWhatIsMadeOfIt) {
    in_house([](House& house) -> Task<> {
        const auto sandbox = co_await house.create();
        co_await house.sandboxes->set_policy_above(policy::Layer::template_,
                                                   sandbox->record().template_digest,
                                                   json(R"({"preset":"offline"})"), House::somebody());
        EXPECT_FALSE(lets_out(house, sandbox->record().id));
    });
}

TEST(Policies, AStoredDocumentThatCanBeReadNoMoreClosesTheWayOut) {
    in_house([](House& house) -> Task<> {
        const std::string id = (co_await house.create())->record().id;
        house.store.items[{"policy.tenant", "default"}] =
            R"({"default":"allow","rule":[{"id":"a","action":"gone"}]})";
        co_await house.restart();
        EXPECT_FALSE(lets_out(house, id));
    });
}

TEST(Policies, ARequestWithABrokenDocumentMakesNothing) {
    in_house([](House& house) -> Task<> {
        const Error error = co_await error_of(house.create({.policy = json(R"({"defualt":"deny"})")}));
        EXPECT_EQ(error.code(), Errc::invalid_argument);
        EXPECT_TRUE(house.keeper.boxes.empty());
    });
}

}  // namespace
}  // namespace oyat::core
