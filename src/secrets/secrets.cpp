#include "secrets/secrets.hpp"

#include <boost/json/parse.hpp>

#include "base/throwing.hpp"

namespace oyat::secrets {
namespace {

constexpr const char* kKind = "bindings";

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

// --- what is kept -----------------------------------------------------------------------------------------

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

void Secrets::set_installing(const std::string& sandbox, bool installing) {
    const auto found = holdings_.find(sandbox);
    if (found != holdings_.end()) found->second->broker().set_installing(installing);
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
