#include "secrets/holding.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/value_to.hpp>

#include "core/event_json.hpp"
#include "core/json_text.hpp"

namespace oyat::secrets {
namespace {

namespace json = boost::json;

}  // namespace

std::string Holding::placeholder(const Binding& binding, const std::string& command) const {
    if (binding.is_injected()) return {};
    return binding.shape().make(seed_, binding.secret() + "/" + command + "/" + binding.asked().shape);
}

void Holding::add(std::shared_ptr<const Binding> binding, Variables& variables, std::string id) {
    if (id.empty()) id = "b_" + std::to_string(next_++);
    bound_.push_back({.id = id, .binding = binding});
    if (binding->is_for_commands()) return;
    Grant grant{
        .id = std::move(id), .binding = binding, .placeholder = placeholder(*binding, {}), .command = {}};
    for (const std::string& name : binding->variables()) variables[name] = grant.placeholder;
    broker_.add(std::move(grant));
}

bool Holding::remove(const std::string& id) {
    broker_.remove_binding(id);
    return std::erase_if(bound_, [&](const Bound& each) { return each.id == id; }) != 0;
}

Holding::Variables Holding::add_command(const std::string& command, const std::vector<std::string>& argv) {
    Variables variables;
    for (const Bound& each : bound_) {
        if (!each.binding->is_for_commands() || !each.binding->fits_command(argv)) continue;
        Grant grant{.id = each.id,
                    .binding = each.binding,
                    .placeholder = placeholder(*each.binding, command),
                    .command = command};
        for (const std::string& name : each.binding->variables()) variables[name] = grant.placeholder;
        broker_.add(std::move(grant));
    }
    return variables;
}

std::vector<std::string> Holding::ids_of(const std::string& group) const {
    std::vector<std::string> ids;
    for (const Bound& each : bound_) {
        if (!group.empty() && each.binding->asked().group == group) ids.push_back(each.id);
    }
    return ids;
}

std::string Holding::objection(const Binding& added, const std::string& leaving) const {
    for (const Bound& each : bound_) {
        if (!leaving.empty() && each.binding->asked().group == leaving) continue;
        if (added.contradicts(*each.binding)) {
            return "two bindings (of " + each.binding->secret() + " and " + added.secret() +
                   ") could match the same place of one request";
        }
        for (const std::string& name : added.variables()) {
            const std::vector<std::string> taken = each.binding->variables();
            const bool is_same = each.binding->secret() == added.secret() &&
                                 each.binding->asked().shape == added.asked().shape;
            if (!is_same && std::ranges::find(taken, name) != taken.end()) {
                return "two secrets for the variable " + name;
            }
        }
    }
    return {};
}

std::string Holding::to_text() const {
    json::array bindings;
    for (const Bound& each : bound_) {
        bindings.push_back({{"id", each.id},
                            {"binding", core::to_json(each.binding->asked())},
                            {"group", core::json_text(each.binding->asked().group)},
                            {"uses", broker_.uses(each.id)}});
    }
    json::object identities;
    for (const auto& [name, token] : identities_) identities[name] = core::json_text(token.audience);
    std::string text;
    core::append_json(text, json::object{{"tenant", tenant_},
                                         {"seed", seed_},
                                         {"next", next_},
                                         {"bindings", std::move(bindings)},
                                         {"identities", std::move(identities)}});
    return text;
}

Result<void> Holding::restore(const json::object& from) {
    try {
        next_ = from.at("next").to_number<std::uint64_t>();
        for (const auto& [name, audience] : from.at("identities").as_object()) {
            identities_[name] = {.audience = json::value_to<std::string>(audience)};
        }
        Variables known;  // stand in the sandbox's environment already
        for (const json::value& each : from.at("bindings").as_array()) {
            const json::object& entry = each.as_object();
            Result<core::SecretBinding> asked =
                core::secret_binding_from_json(entry.at("binding").as_object());
            if (!asked) return std::unexpected{std::move(asked).error()};
            asked->group = json::value_to<std::string>(entry.at("group"));
            Result<Binding> binding = Binding::parse(*std::move(asked));
            if (!binding) return std::unexpected{std::move(binding).error()};
            const std::string id = json::value_to<std::string>(entry.at("id"));
            add(std::make_shared<const Binding>(*std::move(binding)), known, id);
            broker_.set_uses(id, entry.at("uses").to_number<std::uint64_t>());
        }
        return {};
    } catch (const std::exception& e) {
        return refuse(Errc::internal, std::string{"stored bindings: "} + e.what());
    }
}

}  // namespace oyat::secrets
