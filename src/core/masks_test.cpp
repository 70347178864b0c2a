#include "core/masks.hpp"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

#include "base/throwing.hpp"
#include "core/test_scene.hpp"
#include "masking/shipped.hpp"

namespace oyat::core {
namespace {

using namespace std::chrono_literals;

// A vault, played: one value for every sandbox.
struct FakeVault final : masking::ValueSource {
    std::vector<masking::Value> values{{"orders-api", "sk-live-0123456789"}};
    std::uint64_t changes = 1;
    std::vector<masking::Value> values_of(const std::string&) const override { return values; }
    std::uint64_t generation() const override { return changes; }
};

Event said(std::string sandbox, std::string sentence) {
    Event event{.type = "x.y", .sandbox = std::move(sandbox)};
    event.fields["sentence"] = sentence;
    event.fields["argv"] = {"echo", sentence};
    return event;
}

TEST(Masks, HidePlainValuesFromTheRecordAndNotFromClients) {
    Masks masks;
    masks.learn("a", {{"API_KEY", "0123456789"}});
    EXPECT_EQ(masks.hide("a", "key 0123456789"), "key [masked:API_KEY]");
    EXPECT_TRUE(masks.from_clients("a").nothing());
    EXPECT_EQ(masks.hide("b", "key 0123456789"), "key 0123456789");
}

TEST(Masks, HideValuesOfTheVaultFromBothInAllTheirVersions) {
    FakeVault vault;
    Masks masks;
    masks.consult(vault);
    masks.learn("a", {});
    masking::Tally tally;
    EXPECT_EQ(masks.from_clients("a").in("sk-live-0123456789", tally), "[masked:orders-api]");
    const std::uint64_t before = masks.version("a");
    vault.values.push_back({"orders-api", "sk-live-rotated-1"});
    ++vault.changes;
    EXPECT_EQ(masks.hide("a", "sk-live-0123456789 sk-live-rotated-1"),
              "[masked:orders-api] [masked:orders-api]");
    EXPECT_GT(masks.version("a"), before);
}

TEST(Masks, HidePlainValuesFromClientsToldTo) {
    Masks masks{{.client_variables = true}};
    masks.learn("a", {{"API_KEY", "0123456789"}});
    masking::Tally tally;
    EXPECT_EQ(masks.from_clients("a").in("0123456789", tally), "[masked:API_KEY]");
}

TEST(Masks, LeaveInAnEventWhatOyatSaysItself) {
    Masks masks;
    masks.learn("a", {{"API_KEY", "192.0.2.17"}});
    Event event = said("a", "to 192.0.2.17");
    event.fields["addr"] = "192.0.2.17";
    masks.hide(event);
    EXPECT_EQ(
        boost::json::serialize(event.fields),
        R"({"sentence":"to [masked:API_KEY]","argv":["echo","to [masked:API_KEY]"],"addr":"192.0.2.17"})");
}

TEST(Masks, HideKeysOfTheServerFromWhatBelongsToNoSandbox) {
    Masks masks{{.forms = or_throw(masking::Expressions::compile({masking::api_keys()}))}};
    Event event = said("", "no such key: e2b_0123456789abcdef0123456789abcdef01234567");
    masks.hide(event);
    EXPECT_EQ(event.fields.at("sentence").as_string(), "no such key: [masked:api-key]");
}

TEST(Masks, KnowTheLatestOfTooManyValues) {
    Masks masks;
    for (int i = 0; i < 300; ++i) masks.learn("a", {{"V", "value-number-" + std::to_string(1000 + i)}});
    EXPECT_EQ(masks.hide("a", "value-number-1299."), "[masked:V].");
    EXPECT_EQ(masks.hide("a", "value-number-1000."), "value-number-1000.");
}

TEST(Masks, ForgetASandboxWhenManyOthersHaveEndedToo) {
    Masks masks;
    masks.learn("a", {{"API_KEY", "0123456789"}});
    masks.forget("a");
    EXPECT_EQ(masks.hide("a", "0123456789"), "[masked:API_KEY]");
    for (int i = 0; i < 64; ++i) masks.forget("b" + std::to_string(i));
    EXPECT_EQ(masks.hide("a", "0123456789"), "0123456789");
}

// --- commands ---------------------------------------------------------------------------------------------

Task<> plain_value(House& house) {
    CreateRequest request;
    request.env = {{"ORDERS_KEY", "0123456789abcdef"}};
    const auto sandbox = co_await house.create(request);
    FakeInside& inside = house.keeper.inside(sandbox->record().id);
    RunRequest run = House::plain();
    run.argv = {"echo", "0123456789abcdef"};
    run.env = {{"OTHER_TOKEN", "fedcba9876543210"}};
    const auto process = co_await house.start(*sandbox, run);
    auto subscription = process->subscribe();
    inside.latest().say("<0123456789");
    inside.latest().say("abcdef>");
    inside.latest().say("ZmVkY2JhOTg3NjU0MzIxMA==", OutputChannel::err);  // base64 of the command's own
    inside.latest().exit(0);
    std::string text;
    co_await read_all(*subscription, text);
    EXPECT_EQ(text, "<0123456789abcdef>ZmVkY2JhOTg3NjU0MzIxMA==");  // it is the client's
    const Event* exited = house.log.last("command.exited");
    EXPECT_EQ(text_of(*exited, "stdout"), "<[masked:ORDERS_KEY]>");
    EXPECT_EQ(text_of(*exited, "stderr"), "[masked:OTHER_TOKEN]A==");
    EXPECT_EQ(exited->fields.at("stdout").at("sha256").as_string(), sha256_hex("<[masked:ORDERS_KEY]>"));
    EXPECT_EQ(boost::json::serialize(exited->fields.at("masking")),
              R"({"count":2,"by_secret":{"ORDERS_KEY":1,"OTHER_TOKEN":1},"partial":0})");
    EXPECT_EQ(boost::json::serialize(house.log.last("command.requested")->fields.at("argv")),
              R"(["echo","[masked:ORDERS_KEY]"])");
    const Event* applied = house.log.last("mask.applied");
    EXPECT_EQ(applied->fields.at("command"), exited->fields.at("command"));
    EXPECT_EQ(applied->fields.at("count").to_number<int>(), 2);
}
TEST(MaskedCommand, ShowsTheRecordNoPlainValue) {
    in_house(plain_value);
}

Task<> nothing_hidden(House& house) {
    auto [sandbox, inside] = co_await scene(house);
    co_await house.start(*sandbox);
    inside.latest().say("text");
    inside.latest().exit(0);
    co_await House::turns();
    EXPECT_EQ(house.log.last("command.exited")->fields.at("masking").at("count").to_number<int>(), 0);
    EXPECT_EQ(house.log.last("mask.applied"), nullptr);
}
TEST(MaskedCommand, SaysThatNothingWasHidden) {
    in_house(nothing_hidden);
}

Task<> prompt(House& house) {
    CreateRequest request;
    request.env = {{"ORDERS_KEY", "0123456789abcdef"}};
    const auto sandbox = co_await house.create(request);
    FakeInside& inside = house.keeper.inside(sandbox->record().id);
    const auto process = co_await house.start(*sandbox);
    auto subscription = process->subscribe();
    inside.latest().say("enter 012");
    EXPECT_EQ(std::get<Output>(*co_await subscription->next()).bytes, "enter ");
    EXPECT_EQ(std::get<Output>(*co_await subscription->next()).bytes, "012");  // nothing more came
    inside.latest().say("3456789abcdef 0123456789");
    EXPECT_EQ(std::get<Output>(*co_await subscription->next()).bytes, "[masked:ORDERS_KEY] ");
    inside.latest().exit(0);
    EXPECT_EQ(std::get<Output>(*co_await subscription->next()).bytes, "[masked:?]");
}
TEST(MaskedCommand, LetsAPromptThroughAndKeepsALongBeginning) {
    Loop loop;
    House house{loop.executor()};
    house.masking.client_variables = true;
    house.open();
    loop.run(with_timeout(10s, "the story", prompt(house)));
}

Task<> failed_start(House& house) {
    CreateRequest request;
    request.env = {{"ORDERS_KEY", "0123456789abcdef"}};
    const auto sandbox = co_await house.create(request);
    house.keeper.inside(sandbox->record().id).spawn_fails =
        Error{Errc::not_found, "0123456789abcdef: no such program"};
    const Error error = co_await error_of(house.start(*sandbox));
    EXPECT_EQ(error.message(), "[masked:ORDERS_KEY]: no such program");
}
TEST(MaskedCommand, NamesNoValueInAnError) {
    in_house(failed_start);
}

}  // namespace
}  // namespace oyat::core
