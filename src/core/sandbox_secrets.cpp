#include "core/sandbox_secrets.hpp"

#include <utility>

#include "base/log.hpp"
#include "base/throwing.hpp"
#include "core/live_sandbox.hpp"

// What a sandbox may use without having it: how its placeholders come into its environment, and its hosts
// into its policy.
namespace oyat::core {

void check_secrets(const SecretsControl* control, const std::string& tenant, const SecretPlan& plan) {
    if (plan.empty()) return;
    if (control == nullptr) {
        throw Error{Errc::failed_precondition, Fault::client, "this server keeps no secrets"};
    }
    control->check(tenant, plan);
}

void check_readable(const policy::Policy& policy, const SecretPlan& plan) {
    for (const SecretBinding& binding : plan.bindings) {
        for (const std::string& host : binding.hosts) {
            const std::string name = or_throw(policy::HostPattern::parse(host)).name();
            if (!policy::bypasses_interception(policy, name)) continue;
            throw Error{Errc::failed_precondition, Fault::policy,
                        "secret " + binding.secret + " is bound to " + host +
                            ", but this sandbox's policy passes that host through unread (bypass); let it be "
                            "intercepted or remove the binding"};
        }
    }
}

void keep_proxy(const SecretsControl* control, SandboxRecord& record, std::optional<policy::Via> via) {
    std::string locked;
    if (via && !via->password.empty()) {
        if (control == nullptr) {
            throw Error{Errc::failed_precondition, Fault::client,
                        "this server keeps no secrets, so no password of a proxy"};
        }
        locked = control->lock(record.id, via->password);
        via->password.clear();
    }
    record.via = std::move(via);
    record.via_password = std::move(locked);
}

std::optional<policy::Via> proxy_of(const SecretsControl* control, const SandboxRecord& record) {
    std::optional<policy::Via> via = record.via;
    if (!via || record.via_password.empty() || control == nullptr) return via;
    Result<std::string> password = control->unlock(record.id, record.via_password);
    if (password) {
        via->password = *std::move(password);
    } else {
        log::error("the password of a proxy does not open",
                   {{"sandbox", record.id}, {"error", password.error().message()}});
    }
    return via;
}

Task<> LiveSandbox::replace_header_rules(std::vector<SecretBinding> rules, Principal who) {
    SecretPlan plan{.bindings = std::move(rules), .identities = {}};
    if (deps_.secrets == nullptr) {
        check_secrets(nullptr, record_.tenant, plan);
        co_return;
    }
    check_readable(*policy_, plan);
    co_await deps_.secrets->replace({.sandbox = record_.id, .tenant = record_.tenant},
                                    std::string{kHeaderRules}, std::move(plan), std::move(who));
}

std::vector<SecretBinding> LiveSandbox::header_rules() const {
    if (deps_.secrets == nullptr) return {};
    return deps_.secrets->group(record_.id, std::string{kHeaderRules});
}

Task<> LiveSandbox::take_secrets(SecretPlan plan, Principal who) {
    for (const SecretBinding& binding : plan.bindings) {
        if (!binding.env.empty() && record_.env.contains(binding.env)) {
            throw Error{Errc::invalid_argument,
                        "the variable " + binding.env + " is given a value and a secret at once"};
        }
    }
    check_readable(*policy_, plan);
    const SecretsControl::Variables variables =
        co_await deps_.secrets->bind({.sandbox = record_.id, .tenant = record_.tenant}, std::move(plan), who);
    for (const auto& [name, placeholder] : variables) record_.env.insert_or_assign(name, placeholder);
}

Task<> LiveSandbox::bind_secrets(SecretPlan plan, Principal who) {
    check_secrets(deps_.secrets, record_.tenant, plan);
    co_await settle();
    require_running();
    if (plan.empty()) co_return;
    co_await take_secrets(std::move(plan), who);
    require_running();
    renew_policy();
    co_await save();
    co_await follow_policy();
    if (const auto agent = agent_) co_await configure(agent);
}

// The variable stays, pointing to a dead placeholder, so that programs fail clearly.
Task<> LiveSandbox::unbind_secret(std::string binding, Principal who) {
    if (deps_.secrets == nullptr) throw Error{Errc::not_found, "the sandbox has no such binding"};
    co_await deps_.secrets->remove_binding(record_.id, std::move(binding), who);
    if (record_.state == SandboxState::running || record_.state == SandboxState::paused) {
        renew_policy();
    }
}

// Nothing may keep a sandbox from ending.
Task<> LiveSandbox::let_go_of_secrets() {
    if (deps_.secrets == nullptr) co_return;
    try {
        co_await deps_.secrets->unbind(record_.id);
    } catch (const Error& e) {
        log::error("bindings of an ended sandbox not forgotten",
                   {{"sandbox", record_.id}, {"error", e.message()}});
    }
}

}  // namespace oyat::core
