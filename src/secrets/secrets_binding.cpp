#include <algorithm>

#include "base/id.hpp"
#include "base/throwing.hpp"
#include "core/json_text.hpp"
#include "core/record_fields.hpp"
#include "secrets/secrets.hpp"

// What is bound to a sandbox, and taken from it.
namespace oyat::secrets {
namespace {

constexpr std::size_t kMaxBindings = 64;  // of one sandbox
constexpr std::size_t kMaxIdentities = 5;
constexpr std::size_t kMaxAudience = 256;

[[noreturn]] void wrong(std::string sentence) {
    throw Error{Errc::invalid_argument, std::move(sentence)};
}

bool is_within(const policy::HostPattern& host, const policy::HostPattern& limit) {
    if (!host.exact().empty()) return limit.matches(host.exact());
    return host == limit || limit.matches(host.name());
}

core::Event unbound_event(const std::string& sandbox, const std::string& binding,
                          const core::Principal& who) {
    core::Event event{.type = "secret.unbound", .sandbox = sandbox, .tenant = who.tenant};
    event.fields["binding"] = core::json_text(binding);
    core::add_who(event, who);
    return event;
}

core::Event bound_event(const core::SecretHolder& holder, const Binding& binding,
                        const core::Principal& who) {
    core::Event event{.type = "secret.bound", .sandbox = holder.sandbox, .tenant = holder.tenant};
    event.fields["secrets"] = core::json_texts(binding.secrets());
    event.fields["hosts"] = core::json_texts(binding.asked().hosts);
    // Not what the field becomes: somebody may have written a password into it plainly.
    event.fields["in"] = core::to_json(binding.asked()).at("how").at("in");
    event.fields["name"] = core::json_text(binding.asked().name);
    core::add_who(event, who);
    return event;
}

}  // namespace

void Secrets::check_secrets(const std::string& tenant, const Binding& binding) const {
    for (const std::string& name : binding.secrets()) {
        const Secret& secret = deps_.vault.find(tenant, name);
        const SecretValue value = or_throw(deps_.vault.open(tenant, secret.name));
        if (value.bytes().size() < kMinBrokered) {
            wrong("secret " + name +
                  " is shorter than 8 bytes: it could not be masked, so it can't be bound");
        }
        for (const std::string& host :
             secret.hosts.empty() ? std::vector<std::string>{} : binding.asked().hosts) {
            const policy::HostPattern asked = or_throw(policy::HostPattern::parse(host));
            const bool allowed = std::ranges::any_of(secret.hosts, [&](const std::string& each) {
                return is_within(asked, or_throw(policy::HostPattern::parse(each)));
            });
            if (!allowed)
                wrong("secret " + name + " may not go to " + host + ": its own hosts do not hold it");
        }
    }
}

Secrets::Parsed Secrets::parse(const std::string& tenant, const core::SecretPlan& plan) const {
    if (plan.bindings.size() > kMaxBindings) wrong("more than 64 bindings of secrets for one sandbox");
    if (plan.identities.size() > kMaxIdentities) wrong("more than 5 identity tokens");
    for (const auto& [name, token] : plan.identities) {
        if (token.audience.empty() || token.audience.size() > kMaxAudience) {
            wrong("an identity token needs an audience of 1 to 256 bytes");
        }
    }
    Parsed parsed;
    Holding trial{tenant, {}, nullptr, deps_.clock};  // only to hold them against each other
    Variables variables;
    for (const core::SecretBinding& asked : plan.bindings) {
        auto binding = std::make_shared<const Binding>(or_throw(Binding::parse(asked)));
        check_secrets(tenant, *binding);
        for (const Format::Piece& piece : binding->format().pieces()) {
            if (piece.kind == Format::Piece::Kind::token && !plan.identities.contains(piece.text)) {
                wrong("binding: there is no identity token " + piece.text);
            }
        }
        if (const std::string why = trial.objection(*binding); !why.empty()) wrong(why);
        trial.add(binding, variables);
        parsed.bindings.push_back(std::move(binding));
    }
    return parsed;
}

void Secrets::check(const std::string& tenant, const core::SecretPlan& plan) const {
    (void)parse(tenant, plan);
}

Task<Secrets::Variables> Secrets::bind(core::SecretHolder holder, core::SecretPlan plan,
                                       core::Principal who) {
    return put(std::move(holder), std::move(plan), {}, std::move(who));
}

Task<> Secrets::replace(core::SecretHolder holder, std::string group, core::SecretPlan plan,
                        core::Principal who) {
    const auto found = holdings_.find(holder.sandbox);
    if (found == holdings_.end() && plan.empty()) co_return;
    if (found != holdings_.end()) {
        const auto& known = found->second->identities();
        plan.identities.insert(known.begin(), known.end());
    }
    co_await put(std::move(holder), std::move(plan), std::move(group), std::move(who));
}

Task<Secrets::Variables> Secrets::put(core::SecretHolder holder, core::SecretPlan plan, std::string replaced,
                                      core::Principal who) {
    Parsed parsed = parse(holder.tenant, plan);
    std::unique_ptr<Holding>& holding = holdings_[holder.sandbox];
    if (!holding) holding = new_holding(holder.sandbox, holder.tenant, random_hex(16));
    const std::vector<std::string> leaving = holding->ids_of(replaced);
    if (holding->bound().size() - leaving.size() + parsed.bindings.size() > kMaxBindings) {
        wrong("more than 64 bindings of secrets for one sandbox");
    }
    for (const auto& binding : parsed.bindings) {
        if (const std::string why = holding->objection(*binding, replaced); !why.empty()) wrong(why);
    }
    // What cannot be recorded changes nothing.
    for (const std::string& id : leaving) deps_.events.emit(unbound_event(holder.sandbox, id, who));
    for (const auto& binding : parsed.bindings) deps_.events.emit(bound_event(holder, *binding, who));
    for (const std::string& id : leaving) (void)holding->remove(id);
    for (auto& [name, token] : plan.identities)
        holding->identities().insert_or_assign(name, std::move(token));
    Variables variables;
    for (auto& binding : parsed.bindings) holding->add(std::move(binding), variables);
    ++generation_;
    co_await save(holder.sandbox);
    co_return variables;
}

Task<> Secrets::remove_binding(std::string sandbox, std::string id, core::Principal who) {
    const auto found = holdings_.find(sandbox);
    const bool known =
        found != holdings_.end() && found->second->tenant() == who.tenant &&
        std::ranges::any_of(found->second->bound(), [&](const auto& each) { return each.id == id; });
    if (!known) throw Error{Errc::not_found, "the sandbox has no such binding"};
    deps_.events.emit(unbound_event(sandbox, id, who));
    (void)found->second->remove(id);
    ++generation_;
    co_await save(std::move(sandbox));
}

std::vector<core::SecretBinding> Secrets::group(const std::string& sandbox, const std::string& group) const {
    std::vector<core::SecretBinding> all;
    const auto found = holdings_.find(sandbox);
    if (found == holdings_.end()) return all;
    for (const Holding::Bound& each : found->second->bound()) {
        if (each.binding->asked().group == group) all.push_back(each.binding->asked());
    }
    return all;
}

}  // namespace oyat::secrets
