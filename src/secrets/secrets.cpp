#include "secrets/secrets.hpp"

#include <algorithm>
#include <boost/json/parse.hpp>

#include "base/id.hpp"
#include "base/log.hpp"
#include "base/throwing.hpp"
#include "core/json_text.hpp"
#include "core/record_fields.hpp"

namespace oyat::secrets {
namespace {

constexpr const char* kKind = "bindings";
constexpr std::size_t kMaxBindings = 64;  // of one sandbox
constexpr std::size_t kMaxIdentities = 5;
constexpr std::size_t kMaxAudience = 256;

[[noreturn]] void wrong(std::string sentence) {
    throw Error{Errc::invalid_argument, std::move(sentence)};
}

// What one sandbox's broker puts on the wire.
class ValuesOf final : public Values {
public:
    using Audiences = std::function<const std::string*(const std::string&)>;
    ValuesOf(const Vault& vault, const Identities& identities, std::string tenant, std::string sandbox,
             Audiences audiences)
        : vault_{vault},
          identities_{identities},
          tenant_{std::move(tenant)},
          sandbox_{std::move(sandbox)},
          audiences_{std::move(audiences)} {}

    [[nodiscard]] Result<SecretValue> secret(const std::string& name) const override {
        return vault_.open(tenant_, name);
    }
    [[nodiscard]] Result<std::string> identity_token(const std::string& name) const override {
        const std::string* const audience = audiences_(name);
        if (audience == nullptr) return refuse(Errc::denied, "there is no identity token " + name);
        return identities_.token(tenant_, sandbox_, *audience);
    }

private:
    const Vault& vault_;
    const Identities& identities_;
    const std::string tenant_, sandbox_;
    const Audiences audiences_;
};

// Fields that are set may hold what somebody wrote into them plainly, so bindings are sealed as values are.
std::string sealed_as(const std::string& sandbox) {
    return "bindings of " + sandbox;
}

bool is_within(const policy::HostPattern& host, const policy::HostPattern& limit) {
    if (!host.exact().empty()) return limit.matches(host.exact());
    return host == limit || limit.matches(host.name());
}

std::string_view type_of(Note::Kind kind) {
    switch (kind) {
        case Note::Kind::used: return "secret.used";
        case Note::Kind::refused: return "secret.refused";
        case Note::Kind::leak: return "secret.leak_attempt";
    }
    return {};
}

core::Event unbound_event(const std::string& sandbox, const std::string& binding,
                          const core::Principal& who) {
    core::Event event{.type = "secret.unbound", .sandbox = sandbox, .tenant = who.tenant};
    event.fields["binding"] = core::json_text(binding);
    core::add_who(event, who);
    return event;
}

}  // namespace

Secrets::Secrets(SecretsDeps deps) : deps_{std::move(deps)}, tasks_{deps_.executor} {}

Secrets::~Secrets() = default;

Task<> Secrets::load() {
    for (const core::StoredItem& item : co_await deps_.store.load_items(kKind)) {
        const SecretValue opened = or_throw(deps_.seal.open(sealed_as(item.key), item.body));
        const boost::json::object json = boost::json::parse(opened.bytes()).as_object();
        const auto text = [&](const char* name) {
            return std::string{json.at(name).as_string().data(), json.at(name).as_string().size()};
        };
        auto holding = new_holding(item.key, text("tenant"), text("seed"));
        or_throw(holding->restore(json));
        holdings_[item.key] = std::move(holding);
    }
}

Task<> Secrets::close() {
    co_await tasks_.close();
}

std::unique_ptr<Holding> Secrets::new_holding(std::string sandbox, std::string tenant,
                                              std::string seed) const {
    // The holding asks for its own identities, by way of this place.
    const auto self = std::make_shared<Holding*>(nullptr);
    auto values = std::make_unique<ValuesOf>(
        deps_.vault, deps_.identities, tenant, std::move(sandbox), [self](const std::string& name) {
            const auto& known = (*self)->identities();
            const auto found = known.find(name);
            return found == known.end() ? nullptr : &found->second.audience;
        });
    auto holding =
        std::make_unique<Holding>(std::move(tenant), std::move(seed), std::move(values), deps_.clock);
    *self = holding.get();
    return holding;
}

// --- binding ----------------------------------------------------------------------------------------------

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
    for (const std::string& host : binding.asked().hosts) {
        for (const std::uint16_t port : binding.asked().ports) {
            const std::string why = deps_.cannot_read ? deps_.cannot_read(host, port) : std::string{};
            if (why.empty()) continue;
            throw Error{Errc::failed_precondition, Fault::client,
                        (binding.secret().empty() ? "a header" : "secret " + binding.secret()) +
                            " is bound to " + host + ":" + std::to_string(port) + ", but " + why};
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
    for (const std::string& id : leaving) {
        deps_.events.emit(unbound_event(holder.sandbox, id, who));
        (void)holding->remove(id);
    }
    for (auto& [name, token] : plan.identities)
        holding->identities().insert_or_assign(name, std::move(token));
    Variables variables;
    for (auto& binding : parsed.bindings) {
        core::Event event{.type = "secret.bound", .sandbox = holder.sandbox, .tenant = holder.tenant};
        event.fields["secrets"] = core::json_texts(binding->secrets());
        event.fields["hosts"] = core::json_texts(binding->asked().hosts);
        // Not what the field becomes: somebody may have written a password into it plainly.
        event.fields["in"] = core::to_json(binding->asked()).at("how").at("in");
        event.fields["name"] = core::json_text(binding->asked().name);
        core::add_who(event, who);
        deps_.events.emit(std::move(event));
        holding->add(std::move(binding), variables);
    }
    ++generation_;
    co_await save(holder.sandbox);
    co_return variables;
}

Task<> Secrets::remove_binding(std::string sandbox, std::string id, core::Principal who) {
    const auto found = holdings_.find(sandbox);
    if (found == holdings_.end() || found->second->tenant() != who.tenant || !found->second->remove(id)) {
        throw Error{Errc::not_found, "the sandbox has no such binding"};
    }
    ++generation_;
    deps_.events.emit(unbound_event(sandbox, id, who));
    co_await save(std::move(sandbox));
}

Task<> Secrets::unbind(std::string sandbox) {
    if (holdings_.erase(sandbox) == 0) co_return;
    ++generation_;
    co_await deps_.store.forget_item(kKind, std::move(sandbox));
}

Task<> Secrets::keep_only(std::set<std::string> sandboxes) {
    std::vector<std::string> gone;
    for (const auto& [sandbox, holding] : holdings_) {
        if (!sandboxes.contains(sandbox)) gone.push_back(sandbox);
    }
    for (const std::string& sandbox : gone) co_await unbind(sandbox);
}

Task<> Secrets::save(std::string sandbox) {
    const auto found = holdings_.find(sandbox);
    if (found == holdings_.end()) co_return;
    std::string sealed = deps_.seal.close(sealed_as(sandbox), found->second->to_text());
    co_await deps_.store.save_item(kKind, sandbox, std::move(sealed));
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

std::string Secrets::lock(const std::string& sandbox, std::string_view text) const {
    return deps_.seal.close("record of " + sandbox, text);
}

Result<std::string> Secrets::unlock(const std::string& sandbox, std::string_view locked) const {
    Result<SecretValue> opened = deps_.seal.open("record of " + sandbox, locked);
    if (!opened) return std::unexpected{std::move(opened).error()};
    return std::string{opened->bytes()};
}

// --- commands ---------------------------------------------------------------------------------------------

Secrets::Variables Secrets::for_command(const std::string& sandbox, const std::string& command,
                                        const std::vector<std::string>& argv) {
    const auto found = holdings_.find(sandbox);
    return found == holdings_.end() ? Variables{} : found->second->add_command(command, argv);
}

void Secrets::command_ended(const std::string& sandbox, const std::string& command) {
    const auto found = holdings_.find(sandbox);
    if (found != holdings_.end()) found->second->broker().remove_command(command);
}

std::vector<policy::Interception> Secrets::interceptions(const std::string& sandbox) const {
    std::vector<policy::Interception> all;
    const auto found = holdings_.find(sandbox);
    if (found == holdings_.end()) return all;
    for (const Holding::Bound& each : found->second->bound()) {
        policy::Interception& place = all.emplace_back();
        place.hosts = each.binding->hosts();
        for (const std::uint16_t port : each.binding->asked().ports) place.ports.push_back({port, port});
    }
    return all;
}

// --- requests ---------------------------------------------------------------------------------------------

const Broker* Secrets::broker(const std::string& sandbox) const {
    const auto found = holdings_.find(sandbox);
    return found == holdings_.end() ? nullptr : &found->second->broker();
}

Prepared Secrets::prepare(const std::string& sandbox, const RequestView& request) {
    const auto found = holdings_.find(sandbox);
    if (found == holdings_.end()) {
        return {.forward = true, .target = std::string{request.target}, .fields = request.fields};
    }
    Prepared prepared = found->second->broker().prepare(request);
    record(sandbox, request, prepared);
    return prepared;
}

void Secrets::record(const std::string& sandbox, const RequestView& request, const Prepared& prepared) {
    const Holding& holding = *holdings_.at(sandbox);
    for (const Note& note : prepared.notes) {
        core::Event event{.type = std::string{type_of(note.kind)},
                          .sandbox = sandbox,
                          .tenant = holding.tenant(),
                          .by = core::Witness::proxy};
        if (note.kind != Note::Kind::used) event.fault = Fault::policy;
        event.fields["secret"] = core::json_text(note.secret);
        event.fields["in"] = core::json_text(note.place.substr(0, 64));
        event.fields["host"] = core::json_text(request.host);
        event.fields["port"] = request.port;
        event.fields["method"] = core::json_text(request.method.substr(0, 16));
        if (!note.reason.empty()) event.fields["reason"] = core::json_text(note.reason);
        deps_.events.emit(std::move(event));
    }
    const bool counted = prepared.forward && std::ranges::any_of(holding.bound(), [](const auto& each) {
                             return each.binding->asked().max_uses != 0;
                         });
    if (!prepared.notes.empty() && counted) tasks_.spawn(save(sandbox));
}

void Secrets::leaked(const std::string& sandbox, const std::string& host, std::uint16_t port,
                     const std::string& place) {
    const auto found = holdings_.find(sandbox);
    if (found == holdings_.end()) return;
    core::Event event{.type = "secret.leak_attempt",
                      .sandbox = sandbox,
                      .tenant = found->second->tenant(),
                      .by = core::Witness::proxy,
                      .fault = Fault::policy};
    event.fields["in"] = core::json_text(place);
    // A name that was to be looked up is itself the leak, and no placeholder enters the record.
    event.fields["host"] = found->second->broker().could_be_placeholder(host)
                               ? boost::json::string{"(withheld)"}
                               : core::json_text(host);
    event.fields["port"] = port;
    deps_.events.emit(std::move(event));
}

void Secrets::echoed(const std::string& sandbox, const std::string& secret, const std::string& host,
                     std::uint16_t port) {
    const auto found = holdings_.find(sandbox);
    if (found == holdings_.end()) return;
    core::Event event{.type = "secret.echoed",
                      .sandbox = sandbox,
                      .tenant = found->second->tenant(),
                      .by = core::Witness::proxy};
    event.fields["secret"] = core::json_text(secret);
    event.fields["host"] = core::json_text(host);
    event.fields["port"] = port;
    deps_.events.emit(std::move(event));
}

void Secrets::set_installing(const std::string& sandbox, bool installing) {
    const auto found = holdings_.find(sandbox);
    if (found != holdings_.end()) found->second->broker().set_installing(installing);
}

// --- views ------------------------------------------------------------------------------------------------

std::vector<Secrets::Shown> Secrets::bindings(const std::string& sandbox) const {
    std::vector<Shown> all;
    const auto found = holdings_.find(sandbox);
    if (found == holdings_.end()) return all;
    for (const Holding::Bound& each : found->second->bound()) {
        all.push_back(
            {.id = each.id, .binding = each.binding->asked(), .uses = found->second->broker().uses(each.id)});
    }
    return all;
}

std::vector<masking::Value> Secrets::values_of(const std::string& sandbox) const {
    std::vector<masking::Value> all;
    const auto found = holdings_.find(sandbox);
    if (found == holdings_.end()) return all;
    for (const Holding::Bound& each : found->second->bound()) {
        for (const std::string& name : each.binding->secrets()) {
            deps_.vault.each_value(found->second->tenant(), name, [&](std::string_view value) {
                all.push_back({.name = name, .value = std::string{value}});
            });
        }
    }
    return all;
}

}  // namespace oyat::secrets
