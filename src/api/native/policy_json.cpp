#include "api/native/policy_json.hpp"

#include <algorithm>
#include <map>
#include <tuple>

#include "base/throwing.hpp"
#include "core/json_text.hpp"

namespace oyat::native {
namespace {

namespace json = boost::json;

json::string text_of(const json::object& object, std::string_view name) {
    const json::value* value = object.if_contains(name);
    return value != nullptr && value->is_string() ? value->get_string() : json::string{};
}

json::array::iterator find_rule(json::array& rules, std::string_view id) {
    const auto found = std::ranges::find_if(rules, [&](const json::value& rule) {
        return rule.is_object() && std::string_view{text_of(rule.get_object(), "id")} == id;
    });
    if (found == rules.end()) throw Error{Errc::not_found, "there is no rule '" + std::string{id} + "'"};
    return found;
}

std::string_view verdict_of(const policy::Decision& decision) {
    return to_string(decision.action);
}

}  // namespace

json::object policy_json(const policy::Policy& policy) {
    json::array layers;
    for (const policy::LayerDocument& each : policy.layers)
        layers.push_back({{"layer", to_string(each.layer)}, {"document", to_json(*each.document)}});
    return {{"generation", policy.generation}, {"layers", std::move(layers)}};
}

json::object own_document(const policy::Policy& policy) {
    if (!policy.layers.empty() && policy.layers.back().layer == policy::Layer::sandbox)
        return to_json(*policy.layers.back().document);
    return {{"default", "allow"}};
}

void change_rules(json::object& document, Body& body) {
    if (!document.contains("rule")) document["rule"] = json::array{};
    json::array& rules = document["rule"].as_array();
    const std::size_t before = rules.size();
    bool changed = false;
    if (std::optional<Body> insert = body.object("insert")) {
        const auto place = insert->text("before");
        std::optional<json::object> rule = insert->json("rule");
        insert->done();
        if (!rule) throw Error{Errc::invalid_argument, "insert.rule is missing"};
        rules.insert(place ? find_rule(rules, *place) : rules.end(), *std::move(rule));
        changed = true;
    }
    if (std::optional<Body> replace = body.object("replace")) {
        std::optional<json::object> rule = replace->json("rule");
        replace->done();
        if (!rule) throw Error{Errc::invalid_argument, "replace.rule is missing"};
        *find_rule(rules, text_of(*rule, "id")) = *std::move(rule);
        changed = true;
    }
    if (const auto id = body.text("remove")) {
        rules.erase(find_rule(rules, *id));
        changed = true;
    }
    if (!changed) throw Error{Errc::invalid_argument, "insert, replace or remove is expected"};
    if (rules.empty() && before == 0) document.erase("rule");
}

json::object explain_json(const policy::Policy& policy, Body& connect, WallTime now) {
    policy::Attempt attempt{.address = IpAddress::v4(0)};
    const auto host = connect.text("host");
    const auto address = connect.text("address");
    if (!host && !address) throw Error{Errc::invalid_argument, "connect.host or connect.address is missing"};
    if (address) attempt.address = or_throw(IpAddress::parse(*address));
    attempt.name = host ? or_throw(policy::canonical_host(*host)) : std::string{};
    attempt.port = static_cast<std::uint16_t>(connect.number("port", 65535).value_or(443));
    const auto method = connect.text("method");
    const auto path = connect.text("path");
    const auto ref = connect.text("ref");
    policy::Push push;
    if (ref) push.refs = {{*ref}};
    const policy::Request request{.method = method ? std::string_view{*method} : "GET",
                                  .target = policy::CanonicalTarget::of(path ? *path : "/"),
                                  .push = ref ? &push : nullptr};
    attempt.protocol = attempt.port == 80                      ? policy::Protocol::http
                       : attempt.port == 443 || method || path ? policy::Protocol::tls
                                                               : policy::Protocol::tcp;
    attempt.strength = host ? policy::Strength::sni_pin : policy::Strength::cidr;

    if (host) {
        const policy::Decision name = decide_name(policy, *attempt.name, now);
        if (name.action == policy::Action::deny) {
            return {{"verdict", "deny"},
                    {"rule", core::json_text(name.rule)},
                    {"layer", to_string(name.layer)},
                    {"generation", policy.generation},
                    {"at", "lookup"}};
        }
    }
    policy::Decision decision = decide(policy, attempt, now);
    const bool reads = decision.need == policy::Need::request;
    if (reads) {
        attempt.request = &request;
        attempt.strength = policy::Strength::authority;
        decision = decide(policy, attempt, now);
    }
    if (decision.need == policy::Need::push) {
        throw Error{Errc::invalid_argument, "a rule asks which ref is pushed: connect.ref is missing"};
    }
    return {{"verdict", verdict_of(decision)},         {"rule", core::json_text(decision.rule)},
            {"layer", to_string(decision.layer)},      {"category", core::json_text(decision.category)},
            {"strength", to_string(attempt.strength)}, {"reads_requests", reads},
            {"generation", policy.generation},         {"at", reads ? "request" : "connect"}};
}

json::array denied_json(const std::vector<std::shared_ptr<const core::Event>>& events) {
    using Key = std::tuple<std::string, std::int64_t, std::string, std::string, std::string>;
    std::map<Key, json::object> entries;
    std::vector<Key> order;
    for (const auto& event : events) {
        if (event->type != "connect.denied" && event->type != "dns.denied" && event->type != "request.denied")
            continue;
        const json::object& fields = event->fields;
        const auto text = [&](std::string_view name) {
            return std::string{std::string_view{text_of(fields, name)}};
        };
        std::string host = text("host");
        if (host.empty()) host = event->type == "dns.denied" ? text("name") : text("addr");
        const json::value* port = fields.if_contains("port");
        const json::value* times = fields.if_contains("count");
        std::string reason = text("rule");
        if (reason.empty()) reason = text("reason");
        const std::int64_t number = event->type == "dns.denied"            ? 53
                                    : port != nullptr && port->is_number() ? port->to_number<std::int64_t>()
                                                                           : 0;
        const Key key{host, number, text("method"), text("path"), reason};
        auto [entry, first] = entries.try_emplace(key);
        if (first) {
            order.push_back(key);
            entry->second = {{"host", core::json_text(host)},
                             {"port", number},
                             {"reason", core::json_text(reason)},
                             {"layer", fields.contains("layer") ? fields.at("layer") : json::value{}},
                             {"count", 0},
                             {"first", to_rfc3339(event->time)}};
            for (const char* more : {"method", "path", "category"}) {
                if (fields.contains(more)) entry->second[more] = fields.at(more);
            }
        }
        entry->second["count"] =
            entry->second["count"].to_number<std::int64_t>() +
            (times != nullptr && times->is_number() ? times->to_number<std::int64_t>() : 1);
        entry->second["last"] = to_rfc3339(event->time);
    }
    json::array all;
    for (const Key& key : order) all.push_back(std::move(entries[key]));
    return all;
}

}  // namespace oyat::native
