#include "core/test_house.hpp"

// What follows a signal is what the operator said for its kind.
namespace oyat::core {
namespace {

SandboxesConfig with(SignalKind kind, SignalAction action) {
    SandboxesConfig config;
    config.signals.actions.at(static_cast<std::size_t>(kind)) = action;
    return config;
}

void scan(House& house, const std::string& id) {
    for (int host = 0; host < 60; ++host) {
        house.bus->emit({.type = "connect.denied",
                         .sandbox = id,
                         .tenant = "default",
                         .by = Witness::proxy,
                         .fields = {{"addr", "10.0.0." + std::to_string(host)}, {"port", 22}}});
    }
}

TEST(Signals, AreNotedAndNothingElseWhenTheOperatorSaysNothing) {
    in_house([](House& house) -> Task<> {
        const auto sandbox = co_await house.create();
        scan(house, sandbox->record().id);
        co_await House::turns();
        const Event* noted = house.log.last("signal.deny_burst");
        EXPECT_NE(noted, nullptr);
        if (noted == nullptr) co_return;
        EXPECT_EQ(noted->sandbox, sandbox->record().id);
        EXPECT_EQ(noted->fields.at("action").as_string(), "note");
        EXPECT_EQ(house.log.count("signal.deny_burst"), 1u);
        EXPECT_EQ(sandbox->record().state, SandboxState::running);
    });
}

TEST(Signals, HoldASandboxWhenTheOperatorSaysFreeze) {
    in_house(
        [](House& house) -> Task<> {
            const auto sandbox = co_await house.create();
            const auto other = co_await house.create();
            scan(house, sandbox->record().id);
            co_await House::turns();
            EXPECT_TRUE(sandbox->record().held);
            EXPECT_EQ(sandbox->record().state, SandboxState::paused);
            EXPECT_FALSE(other->record().held);
            EXPECT_EQ(house.log.last("brake.pulled")->fields.at("client").as_string(), "signal deny_burst");
        },
        with(SignalKind::deny_burst, SignalAction::freeze));
}

TEST(Signals, EndASandboxWhenTheOperatorSaysKill) {
    in_house(
        [](House& house) -> Task<> {
            const std::string id = (co_await house.create())->record().id;
            scan(house, id);
            co_await House::turns();
            const auto ended = house.sandboxes->ended(id, "default");
            EXPECT_TRUE(ended && ended->ended_by == EndedBy::signal);
        },
        with(SignalKind::deny_burst, SignalAction::kill));
}

TEST(Signals, OfTheNameServerAreActedOnAndNotRecordedTwice) {
    in_house(
        [](House& house) -> Task<> {
            const auto sandbox = co_await house.create();
            house.bus->emit({.type = "signal.dns_tunnel",
                             .sandbox = sandbox->record().id,
                             .tenant = "default",
                             .by = Witness::proxy,
                             .fields = {{"domain", "evil.test"}, {"names", 200}}});
            co_await House::turns();
            EXPECT_TRUE(sandbox->record().held);
            EXPECT_EQ(house.log.count("signal.dns_tunnel"), 1u);
        },
        with(SignalKind::dns_tunnel, SignalAction::freeze));
}

TEST(Signals, AnUploadIsSeenInTheSamplesWhileItRuns) {
    in_house(
        [](House& house) -> Task<> {
            const auto sandbox = co_await house.create();
            co_await house.sandboxes->take_samples();
            EXPECT_FALSE(sandbox->record().held);
            house.egress.moved[sandbox->record().id].up = 300u << 20;
            co_await house.sandboxes->take_samples();
            co_await House::turns();
            EXPECT_TRUE(sandbox->record().held);
        },
        with(SignalKind::upload_spike, SignalAction::freeze));
}

TEST(Signals, ASpinIsSeenInTheSamples) {
    SandboxesConfig config = with(SignalKind::spin, SignalAction::freeze);
    config.signals.spin_after = std::chrono::seconds{30};
    in_house(
        [](House& house) -> Task<> {
            const auto sandbox = co_await house.create();
            BoxUsage& usage = house.keeper.boxes.at(sandbox->record().id).usage;
            for (int sample = 0; sample < 12; ++sample) {
                co_await house.sandboxes->take_samples();
                co_await house.pass(std::chrono::seconds{5});
                usage.cpu_us += 5'000'000;
            }
            EXPECT_TRUE(sandbox->record().held);
            EXPECT_NE(house.log.last("signal.spin"), nullptr);
        },
        std::move(config));
}

}  // namespace
}  // namespace oyat::core
