#include "egress/judge.hpp"
#include "egress/client_hello_for_tests.hpp"
#include "egress/house_for_tests.hpp"

namespace oyat::egress {
namespace {

using namespace testing;
using policy::Action;
using Way = Passage::Way;

policy::Rule allow(std::string_view host) {
    policy::Rule rule{.id = "allow-" + std::string{host}, .category = {}, .action = Action::allow};
    rule.hosts.push_back(or_throw(policy::HostPattern::parse(host)));
    return rule;
}

core::PolicyPtr only(std::vector<policy::Rule> rules, Action otherwise = Action::deny) {
    policy::Document document;
    document.rules = std::move(rules);
    document.fallback = otherwise;
    return std::make_shared<policy::Policy>(policy::Policy{
        .layers = {{policy::Layer::sandbox, std::make_shared<policy::Document>(std::move(document))}}});
}

const IpAddress kThere = IpAddress::v4(0xC0000207);  // 192.0.2.7

std::pair<Fd, Fd> socket_pair() {
    std::array<int, 2> ends{};
    sys(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), "socketpair");
    return {Fd{ends[0]}, Fd{ends[1]}};
}

// One connection of a sandbox, as the judge meets it.
struct Court {
    explicit Court(Executor executor, core::PolicyPtr in_force)
        : shared{executor, bus, clock, store, {}}, policy{std::move(in_force)} {
        program = std::move(ends.first);
    }
    void pin(const std::string& name) { pins.pin(kThere, name, std::chrono::seconds{60}, clock.mono()); }
    void say(std::string_view bytes) const { ::send(program.get(), bytes.data(), bytes.size(), 0); }
    Task<Passage> judged(std::uint16_t port = 443) { return judge.connection(inside, {kThere, port}); }

    NoLog log;
    SystemClock clock;
    core::EventBus bus{clock, log};
    core::FakeStore store;
    Shared shared;
    core::PolicyPtr policy;
    Pins pins;
    std::vector<std::string> asked;
    std::optional<std::string> resolver_knows;
    std::pair<Fd, Fd> ends = socket_pair();
    Fd program;
    AsyncFd inside{shared.executor, std::move(ends.second)};
    Judge judge{shared, policy, pins, [this](std::string name) -> Task<> {
                    asked.push_back(name);
                    if (resolver_knows == name) pin(name);
                    co_return;
                }};
};

void in_court(core::PolicyPtr policy, Task<> (*body)(Court&)) {
    Loop loop;
    Court court{loop.executor(), std::move(policy)};
    loop.run(with_timeout(Millis{20'000}, "the test", body(court)));
}

TEST(Judge, LooksAtNothingThatNoRuleAsksFor) {
    in_court(
        only({}, Action::allow), +[](Court& court) -> Task<> {
            court.pin("a.test");
            const Passage passage = co_await court.judged();
            EXPECT_EQ(passage.way, Way::pass);
            EXPECT_EQ(passage.host, "a.test");
            EXPECT_EQ(passage.attempt.strength, policy::Strength::pin);
            EXPECT_TRUE(passage.bytes.empty());
        });
}

TEST(Judge, TakesTheNameOfAHelloThatComesInPieces) {
    in_court(
        only({allow("a.test")}), +[](Court& court) -> Task<> {
            court.pin("a.test");
            const std::string bytes = hello(server_name("a.test"));
            court.say(std::string_view{bytes}.substr(0, 20));
            TaskGroup later{court.shared.executor};
            later.spawn([](Court& c, std::string rest) -> Task<> {
                co_await yield_now();
                c.say(rest);
            }(court, bytes.substr(20)));
            const Passage passage = co_await court.judged();
            EXPECT_EQ(passage.way, Way::pass);
            EXPECT_EQ(passage.attempt.strength, policy::Strength::sni_pin);
            EXPECT_EQ(passage.decision.rule, "allow-a.test");
            EXPECT_EQ(passage.bytes, bytes);
            co_await later.close();
        });
}

TEST(Judge, ANameIsWorthOnlyTheAddressThatItWasResolvedTo) {  // threats E-02, E-03
    in_court(
        only({allow("a.test"), allow("b.test")}), +[](Court& court) -> Task<> {
            court.pin("a.test");
            court.say(hello(server_name("b.test")));
            const Passage passage = co_await court.judged();
            EXPECT_EQ(passage.way, Way::refuse);
            EXPECT_EQ(passage.decision.rule, "name-address-mismatch");
            EXPECT_EQ(court.asked, std::vector<std::string>{"b.test"});
        });
}

TEST(Judge, ANameThatWasNotLookedUpIsLookedUpNow) {
    in_court(
        only({allow("a.test")}), +[](Court& court) -> Task<> {
            court.resolver_knows = "a.test";
            court.say(hello(server_name("a.test")));
            EXPECT_EQ((co_await court.judged()).way, Way::pass);
        });
}

TEST(Judge, ANameWithoutARuleIsRefusedAtAnAllowedAddress) {
    in_court(
        only({allow("a.test")}), +[](Court& court) -> Task<> {
            court.pin("a.test");
            court.pin("c.test");
            court.say(hello(server_name("c.test")));
            const Passage passage = co_await court.judged();
            EXPECT_EQ(passage.way, Way::refuse);
            EXPECT_EQ(passage.host, "c.test");
            EXPECT_EQ(passage.decision.rule, "default");
        });
}

TEST(Judge, WithoutAServerNameOnlyALonePinCounts) {
    in_court(
        only({allow("a.test"), allow("c.test")}), +[](Court& court) -> Task<> {
            court.pin("a.test");
            court.say(hello(""));
            EXPECT_EQ((co_await court.judged()).way, Way::pass);
            court.pin("c.test");
            court.say(hello(""));
            EXPECT_EQ((co_await court.judged()).way, Way::refuse);
        });
}

TEST(Judge, AProgramThatWaitsForTheServerGoesByThePinnedName) {
    in_court(
        only({allow("ssh.test")}), +[](Court& court) -> Task<> {
            court.pin("ssh.test");
            const Passage passage = co_await court.judged(22);
            EXPECT_EQ(passage.way, Way::pass);
            EXPECT_EQ(passage.attempt.strength, policy::Strength::pin);
        });
}

// A bypass once: 300 ms of silence, then the hello of a neighbour at the same address.
TEST(Judge, AProgramThatBeginsAfterAllIsJudgedByWhatItSays) {
    in_court(
        only({allow("a.test")}), +[](Court& court) -> Task<> {
            court.pin("a.test");
            Passage passage = co_await court.judged();
            EXPECT_EQ(passage.way, Way::pass);
            EXPECT_TRUE(passage.unheard);
            court.say(hello(server_name("b.test")));
            passage = co_await court.judge.heard(court.inside, std::move(passage));
            EXPECT_EQ(passage.way, Way::refuse);
            EXPECT_FALSE(passage.unheard);
        });
}

TEST(Judge, RequestsAreReadWhereARuleAsksForThem) {
    policy::Rule orders = allow("a.test");
    orders.paths.push_back(or_throw(policy::PathPattern::parse("/v2/**")));
    in_court(
        only({orders}), +[](Court& court) -> Task<> {
            court.pin("a.test");
            court.say(hello(server_name("a.test")));
            const Passage passage = co_await court.judged();
            EXPECT_EQ(passage.way, Way::read_tls);
            const auto verdict = [&](std::string_view target) {
                return court.judge
                    .request(passage, "a.test",
                             {.method = "GET", .target = policy::CanonicalTarget::of(target)})
                    .allows();
            };
            EXPECT_TRUE(verdict("/v2/orders"));
            EXPECT_FALSE(verdict("/v1/orders"));
            EXPECT_TRUE(court.judge.still_passes(passage));
            court.policy = offline(3);
            EXPECT_FALSE(court.judge.still_passes(passage));
        });
    in_court(
        only({orders}), +[](Court& court) -> Task<> {
            court.say("GET /v2/x HTTP/1.1\r\n");
            EXPECT_EQ((co_await court.judged(80)).way, Way::read_http);
        });
}

TEST(Judge, WhereASandboxHasPlaceholdersRequestsInClearAreReadWhereverTheyGo) {
    policy::Policy all = *only({}, Action::allow);
    all.interceptions.push_back({.hosts = {or_throw(policy::HostPattern::parse("vault.test"))}, .ports = {}});
    in_court(std::make_shared<policy::Policy>(std::move(all)), [](Court& court) -> Task<> {
        court.say("GET / HTTP/1.1\r\nHost: elsewhere.test\r\n\r\n");
        EXPECT_EQ((co_await court.judged(80)).way, Way::read_http);
    });
}

TEST(Judge, WhatIsBoundToAHostHoldsForConnectionsThatWerePassedOnUnread) {
    in_court(only({allow("a.test"), allow("b.test")}), [](Court& court) -> Task<> {
        court.pin("a.test");
        court.say(hello(server_name("a.test")));
        const Passage passage = co_await court.judged();
        EXPECT_EQ(passage.way, Way::pass);
        const auto bound_to = [](const char* host, std::vector<policy::HostPattern> bypass = {}) {
            policy::Policy all = *only({}, Action::allow);
            all.interceptions.push_back(
                {.hosts = {or_throw(policy::HostPattern::parse(host))}, .ports = {{443, 443}}});
            policy::Document document;
            document.fallback = Action::allow;
            document.bypass = std::move(bypass);
            all.layers.push_back(
                {policy::Layer::sandbox, std::make_shared<const policy::Document>(document)});
            return std::make_shared<const policy::Policy>(std::move(all));
        };
        court.policy = bound_to("b.test");
        EXPECT_TRUE(court.judge.still_passes(passage));
        court.policy = bound_to("a.test");
        EXPECT_FALSE(court.judge.still_passes(passage));
        court.policy = bound_to("a.test", {or_throw(policy::HostPattern::parse("a.test"))});
        EXPECT_TRUE(court.judge.still_passes(passage)) << "a host that is never read";
    });
}

TEST(Judge, AChangeOfPolicyMeetsWhatItForbids) {  // threats E-15
    in_court(
        only({allow("a.test"), allow("b.test")}), +[](Court& court) -> Task<> {
            court.pin("a.test");
            court.say(hello(server_name("a.test")));
            const Passage passage = co_await court.judged();
            court.policy = only({allow("a.test")});
            EXPECT_TRUE(court.judge.still_passes(passage));
            court.policy = only({allow("b.test")});
            EXPECT_FALSE(court.judge.still_passes(passage));
        });
}

}  // namespace
}  // namespace oyat::egress
