#include "policy/policy.hpp"

#include <algorithm>

namespace oyat::policy {
namespace {

// Whether a criterion or a rule holds, as far as is known.
enum class Match : std::uint8_t { yes, no, needs_push, needs_request, needs_name };

Match need_more(const Attempt& attempt, Match needed) {
    return attempt.final ? Match::no : needed;
}

Match match_host(const Rule& rule, const Attempt& attempt) {
    if (rule.hosts.empty()) return Match::yes;
    if (!attempt.name) return need_more(attempt, Match::needs_name);
    return !attempt.name->empty() && matches_any(rule.hosts, *attempt.name) ? Match::yes : Match::no;
}

Match match_address(const Rule& rule, const Attempt& attempt) {
    const bool holds = rule.cidrs.empty() || std::ranges::any_of(rule.cidrs, [&](const Cidr& range) {
                           return range.contains(attempt.address);
                       });
    return holds ? Match::yes : Match::no;
}

Match match_port(const Rule& rule, const Attempt& attempt) {
    const bool holds = rule.ports.empty() || std::ranges::any_of(rule.ports, [&](const PortRange& range) {
                           return range.contains(attempt.port);
                       });
    return holds ? Match::yes : Match::no;
}

Match match_protocol(const Rule& rule, const Attempt& attempt) {
    if (rule.protocol == Protocol::any || rule.protocol == Protocol::tcp) return Match::yes;
    if (!attempt.protocol) return need_more(attempt, Match::needs_name);
    const Protocol seen = *attempt.protocol;
    // HTTPS is TLS whose requests may or may not be read.
    const bool holds = rule.protocol == Protocol::https ? seen == Protocol::tls : seen == rule.protocol;
    return holds ? Match::yes : Match::no;
}

// What cannot be read for sure is within no path that is allowed, and within every path that is not: a server
// may understand what we do not (threats E-12).
Match unreadable(const Rule& rule) {
    return rule.action >= Action::ask ? Match::yes : Match::no;
}

// How a program begins a push: it asks what there is, and changes nothing.
bool is_prelude_of_push(const Request& request) {
    return request.method == "GET" && request.target && request.target->path.ends_with("/info/refs") &&
           request.target->query == "service=git-receive-pack";
}

// A rule with refs speaks of pushes and of nothing else.
Match match_push(const Rule& rule, const Request& request) {
    if (rule.refs.empty()) return Match::yes;
    const bool allows = rule.action < Action::ask;
    if (is_prelude_of_push(request)) return allows ? Match::yes : Match::no;
    if (!is_push(request)) return request.target ? Match::no : unreadable(rule);
    if (request.push == nullptr) return Match::needs_push;
    if (!request.push->refs) return unreadable(rule);
    const auto is_named = [&](const std::string& ref) {
        return std::ranges::any_of(rule.refs, [&](const Glob& pattern) { return pattern.matches(ref); });
    };
    const bool holds = allows ? std::ranges::all_of(*request.push->refs, is_named)
                              : std::ranges::any_of(*request.push->refs, is_named);
    return holds ? Match::yes : Match::no;
}

Match match_request(const Rule& rule, const Attempt& attempt) {
    if (!rule.reads_requests()) return Match::yes;
    if (attempt.request == nullptr) {
        if (rule.only_when_read && attempt.protocol != Protocol::http) {
            return attempt.protocol ? Match::no : need_more(attempt, Match::needs_name);
        }
        // What is neither HTTP nor TLS has no requests that we know of.
        if (attempt.protocol == Protocol::tcp || attempt.final) return unreadable(rule);
        return Match::needs_request;
    }
    const Request& request = *attempt.request;
    if (!rule.methods.empty() && std::ranges::find(rule.methods, request.method) == rule.methods.end())
        return Match::no;
    if (rule.paths.empty()) return match_push(rule, request);
    if (!request.target) return unreadable(rule);
    const bool holds = std::ranges::any_of(
        rule.paths, [&](const PathPattern& pattern) { return pattern.matches(*request.target); });
    return holds ? match_push(rule, request) : Match::no;
}

// A rule that wants more certainty than there is allows nothing; one that denies needs none.
Match match_strength(const Rule& rule, const Attempt& attempt) {
    if (rule.action == Action::deny || attempt.strength >= rule.require) return Match::yes;
    if (rule.require == Strength::authority && attempt.request == nullptr &&
        attempt.protocol != Protocol::tcp) {
        return need_more(attempt, Match::needs_request);
    }
    return attempt.protocol ? Match::no : need_more(attempt, Match::needs_name);
}

bool is_over(const Rule& rule, WallTime now) {
    return rule.expires && now >= *rule.expires;
}

Match match(const Rule& rule, const Attempt& attempt, WallTime now) {
    if (is_over(rule, now)) return Match::no;
    Match found = Match::yes;
    for (const auto criterion :
         {match_address, match_port, match_host, match_protocol, match_strength, match_request}) {
        const Match one = criterion(rule, attempt);
        if (one == Match::no) return Match::no;
        found = std::max(found, one);
    }
    return found;
}

Decision by_rule(const LayerDocument& layer, const Rule& rule) {
    return {
        .action = rule.action, .rule = rule.id, .by = &rule, .layer = layer.layer, .category = rule.category};
}

Decision by_default(const LayerDocument& layer) {
    return {.action = layer.document->fallback, .layer = layer.layer, .category = "public-web"};
}

Decision evaluate(const LayerDocument& layer, const Attempt& attempt, WallTime now) {
    for (const Rule& rule : layer.document->rules) {
        switch (match(rule, attempt, now)) {
            case Match::no: continue;
            case Match::yes: return by_rule(layer, rule);
            case Match::needs_name: return {.need = Need::name};
            case Match::needs_request: return {.need = Need::request};
            case Match::needs_push: return {.need = Need::push};
        }
    }
    return by_default(layer);
}

// As evaluate(), for a name of which nothing else is known: the first rule that could allow it decides, or
// that denies it for sure.
Decision evaluate_name(const LayerDocument& layer, std::string_view name, WallTime now) {
    const auto everywhere = [](const Rule& rule) {
        return rule.cidrs.empty() ||
               std::ranges::any_of(rule.cidrs, [](const Cidr& range) { return range.is_every_v4(); });
    };
    for (const Rule& rule : layer.document->rules) {
        if (is_over(rule, now) || rule.only_when_read) continue;
        if (!rule.hosts.empty() && !matches_any(rule.hosts, name)) continue;
        if (rule.action != Action::deny) {
            if (!rule.hosts.empty() || everywhere(rule)) return by_rule(layer, rule);
        } else if (everywhere(rule) && rule.ports.empty() && rule.protocol == Protocol::any &&
                   !rule.reads_requests()) {
            return by_rule(layer, rule);
        }
    }
    return by_default(layer);
}

template <class Evaluate>
Decision strictest(const Policy& policy, Evaluate evaluate_layer) {
    if (policy.cut) return {.action = Action::deny, .rule = "egress-off"};
    Decision found{.action = Action::allow, .rule = "none"};
    const auto judge = [&](const LayerDocument& layer) {
        const Decision one = evaluate_layer(layer);
        if (one.need == Need::nothing && one.action == Action::deny) return std::optional{one};
        if (one.need > found.need || (one.need == found.need && one.action >= found.action)) found = one;
        return std::optional<Decision>{};
    };
    if (policy.install_window) {
        if (const auto denied = judge(*policy.install_window)) return *denied;
    }
    for (const LayerDocument& layer : policy.layers) {
        if (const auto denied = judge(layer)) return *denied;
    }
    return found;
}

}  // namespace

std::shared_ptr<const Policy> Policy::open() {
    static const std::shared_ptr<const Policy> policy = std::make_shared<const Policy>();
    return policy;
}

Decision decide(const Policy& policy, const Attempt& attempt, WallTime now) {
    return strictest(policy, [&](const LayerDocument& layer) { return evaluate(layer, attempt, now); });
}

Decision decide_name(const Policy& policy, std::string_view name, WallTime now) {
    return strictest(policy, [&](const LayerDocument& layer) { return evaluate_name(layer, name, now); });
}

bool wants_interception(const Policy& policy, std::string_view name, std::uint16_t port) {
    return std::ranges::any_of(policy.interceptions, [&](const Interception& place) {
        return matches_any(place.hosts, name) &&
               (place.ports.empty() || std::ranges::any_of(place.ports, [&](const PortRange& range) {
                    return range.contains(port);
                }));
    });
}

bool is_push(const Request& request) {
    return request.target && request.target->path.ends_with("/git-receive-pack");
}

bool may_read_requests(const Policy& policy) {
    const auto reads = [](const Rule& rule) {
        return rule.reads_requests() || rule.require == Strength::authority;
    };
    return !policy.interceptions.empty() ||
           std::ranges::any_of(policy.layers, [&](const LayerDocument& layer) {
               return std::ranges::any_of(layer.document->rules, reads);
           });
}

bool bypasses_interception(const Policy& policy, std::string_view name) {
    return std::ranges::any_of(
        policy.layers, [&](const LayerDocument& layer) { return matches_any(layer.document->bypass, name); });
}

std::string_view to_string(Layer layer) noexcept {
    switch (layer) {
        case Layer::server: return "server";
        case Layer::tenant: return "tenant";
        case Layer::template_: return "template";
        case Layer::sandbox: return "sandbox";
    }
    return "";
}

std::string_view to_string(Action action) noexcept {
    switch (action) {
        case Action::allow: return "allow";
        case Action::observe: return "observe";
        case Action::ask: return "ask";
        case Action::deny: return "deny";
    }
    return "";
}

std::string_view to_string(Strength strength) noexcept {
    switch (strength) {
        case Strength::cidr: return "cidr";
        case Strength::pin: return "pin";
        case Strength::sni_pin: return "sni+pin";
        case Strength::synthetic: return "synthetic";
        case Strength::authority: return "authority";
    }
    return "";
}

std::string_view to_string(Protocol protocol) noexcept {
    switch (protocol) {
        case Protocol::any: return "any";
        case Protocol::tcp: return "tcp";
        case Protocol::tls: return "tls";
        case Protocol::http: return "http";
        case Protocol::https: return "https";
    }
    return "";
}

}  // namespace oyat::policy
