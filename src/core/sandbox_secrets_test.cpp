#include "core/sandbox_secrets.hpp"

#include <boost/json/serialize.hpp>

#include "core/test_house.hpp"

namespace oyat::core {
namespace {

// A broker that hands out one placeholder for each binding.
class FakeSecrets final : public SecretsControl {
public:
    void check(const std::string&, const SecretPlan& plan) const override {
        for (const SecretBinding& each : plan.bindings) {
            if (each.secret == "unknown") throw Error{Errc::not_found, "there is no secret unknown"};
        }
    }
    Task<Variables> bind(SecretHolder holder, SecretPlan plan, Principal) override {
        Variables variables;
        for (const SecretBinding& each : plan.bindings) {
            bound.insert(holder.sandbox);
            if (each.commands.empty()) variables[each.env] = "placeholder-of-" + each.secret;
        }
        co_return variables;
    }
    Task<> replace(SecretHolder holder, std::string, SecretPlan plan, Principal) override {
        rules[holder.sandbox] = std::move(plan.bindings);
        co_return;
    }
    [[nodiscard]] std::vector<SecretBinding> group(const std::string& sandbox,
                                                   const std::string&) const override {
        const auto found = rules.find(sandbox);
        return found == rules.end() ? std::vector<SecretBinding>{} : found->second;
    }
    [[nodiscard]] std::string lock(const std::string& sandbox, std::string_view text) const override {
        return "locked for " + sandbox + ":" + std::string{text.rbegin(), text.rend()};
    }
    [[nodiscard]] Result<std::string> unlock(const std::string& sandbox,
                                             std::string_view locked) const override {
        const std::string before = "locked for " + sandbox + ":";
        if (!locked.starts_with(before)) return refuse(Errc::denied, "not locked for this sandbox");
        locked.remove_prefix(before.size());
        return std::string{locked.rbegin(), locked.rend()};
    }
    Task<> unbind(std::string sandbox) override {
        bound.erase(sandbox);
        rules.erase(sandbox);
        co_return;
    }
    Task<> remove_binding(std::string sandbox, std::string, Principal) override { co_await unbind(sandbox); }
    Task<> keep_only(std::set<std::string> sandboxes) override {
        kept = std::move(sandboxes);
        co_return;
    }
    Variables for_command(const std::string&, const std::string& command,
                          const std::vector<std::string>& argv) override {
        commands.insert(command);
        if (argv.front() != "prog") return {};
        return {{"SCOPED", "placeholder-of-" + command}};
    }
    void command_ended(const std::string&, const std::string& command) override { commands.erase(command); }
    [[nodiscard]] std::vector<policy::Interception> interceptions(const std::string& sandbox) const override {
        if (!bound.contains(sandbox) && group(sandbox, {}).empty()) return {};
        return {{.hosts = {or_throw(policy::HostPattern::parse("orders.example"))}, .ports = {{443, 443}}}};
    }

    void set_installing(const std::string&, bool now) override { installing = now; }

    std::set<std::string> bound, kept, commands;
    bool installing = false;
    std::map<std::string, std::vector<SecretBinding>> rules;
};

SecretPlan plan_of(std::string secret) {
    SecretBinding binding;
    binding.secret = std::move(secret);
    binding.env = "ORDERS_KEY";
    binding.hosts = {"orders.example"};
    return {.bindings = {std::move(binding)}, .identities = {}};
}

// A server that has a broker, which lives as long as it.
Task<FakeSecrets*> with_broker(House& house) {
    static FakeSecrets secrets;
    secrets = {};
    house.secrets = &secrets;
    co_await house.restart();
    co_return &secrets;
}

Task<> a_create_with_secrets(House& house) {
    FakeSecrets& secrets = *co_await with_broker(house);
    const auto sandbox = co_await house.create({.secrets = plan_of("orders-api")});
    const std::string id = sandbox->record().id;
    EXPECT_EQ(sandbox->environment().at("ORDERS_KEY"), "placeholder-of-orders-api");
    EXPECT_TRUE(policy::wants_interception(*house.egress.attached.at(id), "orders.example", 443));
    co_await house.sandboxes->kill(id, House::somebody(), EndedBy::killed);
    EXPECT_FALSE(secrets.bound.contains(id));
}
TEST(SandboxSecrets, PlaceholdersStandInTheEnvironmentAndHostsAreReadFromTheFirstConnection) {
    in_house(a_create_with_secrets);
}

Task<> creates_that_fail(House& house) {
    EXPECT_EQ((co_await error_of(house.create({.secrets = plan_of("orders-api")}))).code(),
              Errc::failed_precondition);
    FakeSecrets& secrets = *co_await with_broker(house);
    EXPECT_EQ((co_await error_of(house.create({.secrets = plan_of("unknown")}))).code(), Errc::not_found);
    EXPECT_TRUE(house.keeper.killed.empty());  // nothing had been made
    EXPECT_EQ(
        (co_await error_of(house.create({.env = {{"ORDERS_KEY", "plain"}}, .secrets = plan_of("a")}))).code(),
        Errc::invalid_argument);
    EXPECT_TRUE(secrets.bound.empty());
    EXPECT_EQ(house.keeper.boxes.size(), 0u);
}
TEST(SandboxSecrets, ACreateThatCannotBeEnforcedFailsAndLeavesNothing) {
    in_house(creates_that_fail);
}

Task<> bound_later(House& house) {
    co_await with_broker(house);
    const auto sandbox = co_await house.create();
    const std::string id = sandbox->record().id;
    EXPECT_FALSE(policy::wants_interception(*house.egress.attached.at(id), "orders.example", 443));
    co_await house.sandboxes->bind_secrets(id, plan_of("orders-api"), House::somebody());
    EXPECT_TRUE(policy::wants_interception(*house.egress.attached.at(id), "orders.example", 443));
    EXPECT_EQ(sandbox->environment().at("ORDERS_KEY"), "placeholder-of-orders-api");
    co_await house.sandboxes->unbind_secret(id, "b_1", House::somebody());
    EXPECT_FALSE(policy::wants_interception(*house.egress.attached.at(id), "orders.example", 443));
    EXPECT_EQ(
        (co_await error_of(house.sandboxes->bind_secrets(id, plan_of("a"), House::somebody("other")))).code(),
        Errc::not_found);
}
TEST(SandboxSecrets, CanBeBoundToASandboxThatRuns) {
    in_house(bound_later);
}

Task<> scoped_to_a_command(House& house) {
    FakeSecrets& secrets = *co_await with_broker(house);
    const auto sandbox = co_await house.create();
    const auto process = co_await house.start(*sandbox);
    EXPECT_EQ(secrets.commands.size(), 1u);
    EXPECT_EQ(process->request().forced_env.at("SCOPED"), "placeholder-of-" + *secrets.commands.begin());
    house.keeper.inside(sandbox->record().id).latest().exit(0);
    co_await House::turns();
    EXPECT_TRUE(secrets.commands.empty());
}
TEST(SandboxSecrets, APlaceholderOfACommandDiesWithIt) {
    in_house(scoped_to_a_command);
}

policy::Via proxy() {
    return {.host = "proxy.example", .port = 1080, .user = "agent", .password = "hush-hush"};
}

Task<> a_proxy_with_a_password(House& house) {
    EXPECT_EQ((co_await error_of(house.create({.via = proxy()}))).code(), Errc::failed_precondition);
    co_await with_broker(house);
    const std::string id = (co_await house.create({.via = proxy()}))->record().id;
    EXPECT_EQ(house.egress.attached.at(id)->via->password, "hush-hush");
    EXPECT_FALSE(boost::json::serialize(to_json(house.store.records.at(id))).contains("hush-hush"));
    co_await house.restart();
    EXPECT_EQ(house.egress.attached.at(id)->via->password, "hush-hush");
    policy::Via other = proxy();
    other.password = "another";
    co_await house.sandboxes->set_policy(id, {.proxy = PolicyOrder::Proxy::replace, .via = other},
                                         House::somebody());
    EXPECT_EQ(house.egress.attached.at(id)->via->password, "another");
    EXPECT_FALSE(boost::json::serialize(to_json(house.store.records.at(id))).contains("another"));
    co_await house.sandboxes->set_policy(id, {.proxy = PolicyOrder::Proxy::replace}, House::somebody());
    EXPECT_FALSE(house.egress.attached.at(id)->via);
}
TEST(SandboxSecrets, ThePasswordOfAProxyIsLockedInTheRecord) {
    in_house(a_proxy_with_a_password);
}

Task<> rules_replaced(House& house) {
    EXPECT_EQ((co_await error_of(house.sandboxes->set_policy((co_await house.create())->record().id,
                                                             {.header_rules = plan_of("a").bindings},
                                                             House::somebody())))
                  .code(),
              Errc::failed_precondition);
    co_await with_broker(house);
    const auto sandbox = co_await house.create();
    const std::string id = sandbox->record().id;
    co_await house.sandboxes->set_policy(id, {.header_rules = plan_of("a").bindings}, House::somebody());
    EXPECT_TRUE(policy::wants_interception(*house.egress.attached.at(id), "orders.example", 443));
    EXPECT_EQ(sandbox->header_rules().size(), 1u);
    co_await house.sandboxes->set_policy(id, {}, House::somebody());  // a change that does not speak of them
    EXPECT_EQ(sandbox->header_rules().size(), 1u);
    co_await house.sandboxes->set_policy(id, {.header_rules = std::vector<SecretBinding>{}},
                                         House::somebody());
    EXPECT_TRUE(sandbox->header_rules().empty());
    EXPECT_FALSE(policy::wants_interception(*house.egress.attached.at(id), "orders.example", 443));
}
TEST(SandboxSecrets, FieldsThatAreSetOutsideAreReplacedWithThePolicy) {
    in_house(rules_replaced);
}

TEST(SandboxSecrets, AHostThatThePolicyPassesUnreadTakesNoSecret) {
    policy::Document document;
    document.fallback = policy::Action::allow;
    document.bypass = {or_throw(policy::HostPattern::parse("*.example"))};
    policy::Policy policy;
    policy.layers.push_back({policy::Layer::tenant, std::make_shared<const policy::Document>(document)});
    EXPECT_THROW(check_readable(policy, plan_of("orders-api")), Error);
    EXPECT_NO_THROW(check_readable(*policy::Policy::open(), plan_of("orders-api")));
}

}  // namespace
}  // namespace oyat::core
