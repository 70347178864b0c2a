#include "policy/policy.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"

namespace oyat::policy {
namespace {

const IpAddress kAddress = IpAddress::v4(0xC6336401);  // 198.51.100.1

Rule rule(std::string id, Action action, std::vector<std::string_view> hosts = {}) {
    Rule rule{.id = std::move(id), .category = {}, .action = action};
    for (const std::string_view host : hosts) rule.hosts.push_back(or_throw(HostPattern::parse(host)));
    return rule;
}

Policy policy_of(std::vector<std::pair<Layer, Document>> documents) {
    Policy policy;
    for (auto& [layer, document] : documents)
        policy.layers.push_back({layer, std::make_shared<Document>(std::move(document))});
    return policy;
}

Document document(std::vector<Rule> rules, Action fallback = Action::deny) {
    Document made;
    made.rules = std::move(rules);
    made.fallback = fallback;
    return made;
}

Attempt attempt(std::optional<std::string> name = std::nullopt, std::uint16_t port = 443) {
    Attempt made{.address = kAddress, .port = port, .name = std::move(name)};
    return made;
}

TEST(Policy, TheFirstRuleThatMatchesDecides) {
    const Policy policy =
        policy_of({{Layer::sandbox,
                    document({rule("one", Action::allow, {"a.test"}), rule("two", Action::deny, {"*.test"})},
                             Action::allow)}});
    EXPECT_EQ(decide(policy, attempt("a.test"), {}).rule, "one");
    EXPECT_EQ(decide(policy, attempt("b.test"), {}).rule, "two");
    EXPECT_FALSE(decide(policy, attempt("b.test"), {}).allows());
    EXPECT_TRUE(decide(policy, attempt("a.example"), {}).allows());
    EXPECT_TRUE(decide(policy, attempt(""), {}).allows());
}

TEST(Policy, ALowerLayerCanOnlyNarrow) {
    const Policy policy =
        policy_of({{Layer::tenant, document({rule("upper", Action::allow, {"a.test"})})},
                   {Layer::sandbox, document({rule("lower", Action::allow, {"a.test", "b.test"})})}});
    EXPECT_EQ(decide(policy, attempt("a.test"), {}).rule, "lower");
    const Decision refused = decide(policy, attempt("b.test"), {});
    EXPECT_FALSE(refused.allows());
    EXPECT_EQ(refused.layer, Layer::tenant);
}

TEST(Policy, AsksForWhatARuleNeedsAndForNothingElse) {
    Rule orders = rule("orders", Action::allow, {"orders.test"});
    orders.paths.push_back(or_throw(PathPattern::parse("/v2/**")));
    const Policy policy =
        policy_of({{Layer::sandbox, document({orders, rule("web", Action::allow, {"a.test"})})}});
    EXPECT_EQ(decide(policy, attempt(), {}).need, Need::name);
    EXPECT_EQ(decide(policy, attempt("orders.test"), {}).need, Need::request);
    EXPECT_EQ(decide(policy, attempt("a.test"), {}).need, Need::nothing);

    Attempt known = attempt("orders.test");
    Request request{.method = "GET", .target = CanonicalTarget::of("/v2/orders/7")};
    known.request = &request;
    EXPECT_TRUE(decide(policy, known, {}).allows());
    request.target = CanonicalTarget::of("/v1/orders");
    EXPECT_FALSE(decide(policy, known, {}).allows());
    request.target = CanonicalTarget::of("/v2/%2e%2e/v1");  // ambiguous
    EXPECT_FALSE(decide(policy, known, {}).allows());
}

TEST(Policy, ADefiniteDenialOfOneLayerNeedsNoLook) {
    Rule range = rule("range", Action::deny);
    range.cidrs.push_back(or_throw(Cidr::parse("198.51.100.0/24")));
    const Policy policy = policy_of({{Layer::server, document({rule("web", Action::allow, {"a.test"})})},
                                     {Layer::sandbox, document({range}, Action::allow)}});
    EXPECT_EQ(decide(policy, attempt(), {}).rule, "range");
}

TEST(Policy, WhatStaysUnknownMatchesNoRuleThatAllows) {
    const Policy policy = policy_of({{Layer::sandbox, document({rule("web", Action::allow, {"a.test"})})}});
    Attempt last = attempt();
    last.final = true;
    EXPECT_FALSE(decide(policy, last, {}).allows());
}

TEST(Policy, ARuleMayAskForMoreCertainty) {
    Rule strict = rule("strict", Action::allow, {"a.test"});
    strict.require = Strength::authority;
    const Policy policy = policy_of({{Layer::sandbox, document({strict})}});
    Attempt known = attempt("a.test");
    known.strength = Strength::sni_pin;
    known.protocol = Protocol::tls;
    EXPECT_EQ(decide(policy, known, {}).need, Need::request);
    known.strength = Strength::authority;
    EXPECT_TRUE(decide(policy, known, {}).allows());
    known.strength = Strength::pin;
    known.protocol = Protocol::tcp;  // there are no requests to read
    EXPECT_FALSE(decide(policy, known, {}).allows());
}

// A bypass once: "\r\nGET /admin" was no HTTP to us, and so within no path that is denied.
TEST(Policy, WhatCannotBeReadIsWithinEveryPathThatIsDenied) {
    Rule admin = rule("admin", Action::deny, {"a.test"});
    admin.paths.push_back(or_throw(PathPattern::parse("/admin/**")));
    const Policy policy = policy_of({{Layer::sandbox, document({admin, rule("rest", Action::allow)})}});
    Attempt opaque = attempt("a.test");
    opaque.protocol = Protocol::tcp;
    EXPECT_EQ(decide(policy, opaque, {}).rule, "admin");
    Attempt unread = attempt("a.test");
    unread.protocol = Protocol::tls;
    EXPECT_EQ(decide(policy, unread, {}).need, Need::request);
    unread.final = true;  // somebody forbids to read it
    EXPECT_EQ(decide(policy, unread, {}).rule, "admin");
    EXPECT_TRUE(decide(policy, attempt("b.test"), {}).allows());
}

TEST(Policy, ANameIsLookedUpOnlyWhenARuleCouldAllowIt) {
    Rule some = rule("some", Action::allow), all = rule("all", Action::allow),
         nothing = rule("none", Action::deny);
    some.cidrs.push_back(or_throw(Cidr::parse("8.8.8.8/32")));
    all.cidrs.push_back(or_throw(Cidr::parse("0.0.0.0/0")));
    nothing.cidrs = all.cidrs;
    const Document listed =
        document({rule("web", Action::allow, {"**.a.test"}), some, nothing}, Action::allow);
    const Policy policy = policy_of({{Layer::sandbox, listed}});
    EXPECT_TRUE(decide_name(policy, "x.a.test", {}).allows());
    EXPECT_FALSE(decide_name(policy, "b.test", {}).allows());
    EXPECT_TRUE(decide_name(policy_of({{Layer::sandbox, document({all})}}), "b.test", {}).allows());
}

TEST(Policy, TheBrakeHoldsForEverything) {
    Policy policy;
    EXPECT_TRUE(decide(policy, attempt("a.test"), {}).allows());
    policy.cut = true;
    EXPECT_EQ(decide(policy, attempt("a.test"), {}).rule, "egress-off");
    EXPECT_FALSE(decide_name(policy, "a.test", {}).allows());
}

TEST(Policy, ARuleEndsWhenItExpires) {
    Rule soon = rule("soon", Action::allow, {"a.test"});
    soon.expires = WallTime{std::chrono::seconds{100}};
    const Policy policy = policy_of({{Layer::sandbox, document({soon})}});
    EXPECT_TRUE(decide(policy, attempt("a.test"), WallTime{std::chrono::seconds{99}}).allows());
    EXPECT_FALSE(decide(policy, attempt("a.test"), WallTime{std::chrono::seconds{100}}).allows());
}

Rule pushes(Action action, std::string_view ref) {
    Rule made = rule("pushes", action, {"git.test"});
    made.refs.push_back(or_throw(Glob::parse(ref)));
    return made;
}

Decision decide_push(const Policy& policy, std::optional<std::vector<std::string>> refs,
                     std::string_view target = "/x.git/git-receive-pack") {
    const Push push{.refs = std::move(refs)};
    const Request request{.method = "POST", .target = CanonicalTarget::of(target), .push = &push};
    Attempt asked = attempt("git.test");
    asked.protocol = Protocol::tls;
    asked.request = &request;
    asked.final = true;
    return decide(policy, asked, {});
}

TEST(Policy, AllRefsOfAPushMustBeAllowed) {
    const Policy policy =
        policy_of({{Layer::sandbox, document({pushes(Action::allow, "refs/heads/agent/**")})}});
    EXPECT_TRUE(decide_push(policy, {{"refs/heads/agent/a", "refs/heads/agent/b/c"}}).allows());
    EXPECT_TRUE(decide_push(policy, std::vector<std::string>{}).allows());  // it changes nothing
    EXPECT_FALSE(decide_push(policy, {{"refs/heads/agent/a", "refs/heads/main"}}).allows());
    EXPECT_FALSE(decide_push(policy, {{"refs/heads/agent"}}).allows());
    EXPECT_FALSE(decide_push(policy, std::nullopt).allows());  // it could not be read
}

TEST(Policy, OneRefOfAPushThatIsDeniedIsEnough) {
    const Policy policy =
        policy_of({{Layer::sandbox, document({pushes(Action::deny, "refs/heads/main")}, Action::allow)}});
    EXPECT_TRUE(decide_push(policy, {{"refs/heads/a"}}).allows());
    EXPECT_FALSE(decide_push(policy, {{"refs/heads/a", "refs/heads/main"}}).allows());
    EXPECT_FALSE(decide_push(policy, std::nullopt).allows());
    EXPECT_TRUE(decide_push(policy, std::nullopt, "/x.git/git-upload-pack").allows());
    EXPECT_FALSE(decide_push(policy, std::nullopt, "/x.git%2fgit-receive-pack").allows());
}

TEST(Policy, ARuleWithRefsSpeaksOfPushesAndAsksForTheirRefs) {
    const Policy policy =
        policy_of({{Layer::sandbox, document({pushes(Action::allow, "refs/heads/agent/**")})}});
    Attempt asked = attempt("git.test");
    asked.protocol = Protocol::tls;
    EXPECT_EQ(decide(policy, asked, {}).need, Need::request);
    asked.final = true;
    const auto decided = [&](std::string_view method, std::string_view target) {
        const Request request{.method = method, .target = CanonicalTarget::of(target)};
        asked.request = &request;
        return decide(policy, asked, {});
    };
    EXPECT_EQ(decided("POST", "/x.git/git-receive-pack").need, Need::push);
    EXPECT_TRUE(decided("GET", "/x.git/info/refs?service=git-receive-pack").allows());
    EXPECT_FALSE(decided("GET", "/x.git/info/refs?service=git-upload-pack").allows());
    EXPECT_FALSE(decided("GET", "/x.git/info/refs?service=git-receive-pack&a=b").allows());
    EXPECT_FALSE(decided("POST", "/x.git/git-upload-pack").allows());
}

}  // namespace
}  // namespace oyat::policy
