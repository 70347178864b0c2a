#include <algorithm>
#include <boost/json/array.hpp>

#include "api/native/body.hpp"
#include "api/native/call.hpp"
#include "base/id.hpp"
#include "core/json_text.hpp"
#include "core/record_fields.hpp"

// The operator's brakes: for admin keys of the tenant that runs the server, over sandboxes of every tenant.
namespace oyat::native {
namespace {

using core::BrakeOrder;
using core::Scope;
using Brake = core::BrakeOrder::Brake;

constexpr std::size_t kMostNamed = 1000;  // a packet's worth to the keeper

// Whom an order is about: {"all": true}, {"sandboxes": [...]}, {"key": "key_..."} or {"label": "NAME=VALUE"}.
struct Aim {
    bool all = false;
    std::vector<std::string> ids;
    std::string key;
};

Error no_aim() {
    return Error{Errc::invalid_argument,
                 "one of all, sandboxes, key and label says which sandboxes are meant"};
}

bool has_label(const core::SandboxRecord& record, std::string_view label) {
    const std::size_t equals = label.find('=');
    const auto found = record.metadata.find(std::string{label.substr(0, equals)});
    return found != record.metadata.end() && found->second == label.substr(equals + 1);
}

std::vector<std::string> those(const Call& call, auto is_meant) {
    std::vector<std::string> ids;
    for (const auto& sandbox : call.services.sandboxes.every()) {
        if (is_meant(sandbox->record())) ids.push_back(sandbox->record().id);
    }
    return ids;
}

Aim aim_of(const Call& call, Body body) {
    Aim aim{.all = body.flag("all").value_or(false),
            .ids = body.texts("sandboxes"),
            .key = body.text("key").value_or("")};
    const std::string label = body.text("label").value_or("");
    body.done();
    if (aim.all + !aim.ids.empty() + !aim.key.empty() + !label.empty() != 1) throw no_aim();
    for (const std::string& id : aim.ids) {
        if (!is_sandbox_id(id)) throw Error{Errc::not_found, "no sandbox has such an id"};
    }
    if (!label.empty()) {
        if (label.find('=') == std::string::npos || label.starts_with('='))
            throw Error{Errc::invalid_argument, "a label is NAME=VALUE"};
        aim.ids = those(call, [&](const core::SandboxRecord& each) { return has_label(each, label); });
    }
    return aim;
}

void require_operator(const Call& call) {
    if (!call.of_operator()) throw Error{Errc::denied, "this is for who runs the server"};
}

boost::json::object facts_json(const Call& call, const core::BrakeFacts& facts) {
    return {{"stopped", call.services.brakes.stopped()},
            {"egress_off", call.services.brakes.egress_off()},
            {"moving", boost::json::array(facts.moving.begin(), facts.moving.end())}};
}

// A thousand at a time: all of them in one order when all are meant.
Task<core::BrakeFacts> pull(Call& call, Brake brake, const Aim& aim) {
    if (aim.all) co_return co_await call.services.brakes.pull({.brake = brake, .all = true}, call.who);
    core::BrakeFacts sum;
    for (std::size_t at = 0; at < aim.ids.size(); at += kMostNamed) {
        const auto begin = aim.ids.begin() + static_cast<std::ptrdiff_t>(at);
        const auto end =
            aim.ids.begin() + static_cast<std::ptrdiff_t>(std::min(aim.ids.size(), at + kMostNamed));
        core::BrakeFacts part =
            co_await call.services.brakes.pull({.brake = brake, .ids = {begin, end}}, call.who);
        sum.moving.insert(sum.moving.end(), part.moving.begin(), part.moving.end());
    }
    co_return sum;
}

Task<> obey(Call& call, Brake brake) {
    require_operator(call);
    Body body = co_await Body::read(call.exchange);
    const Aim aim = aim_of(call, std::move(body));
    if (!aim.key.empty()) throw Error{Errc::invalid_argument, "a key is stopped as a whole: /v1/brakes/stop"};
    const core::BrakeFacts facts = co_await pull(call, brake, aim);
    co_await call.answer(200, facts_json(call, facts));
}

Task<> hold(Call& call) {
    return obey(call, Brake::hold);
}
Task<> release(Call& call) {
    return obey(call, Brake::release);
}
Task<> cut_egress(Call& call) {
    return obey(call, Brake::cut_egress);
}
Task<> open_egress(Call& call) {
    return obey(call, Brake::open_egress);
}

// The key first, so that it makes no more; then what it made.
Task<Aim> stop_key(Call& call, Aim aim) {
    std::optional<core::KeyRecord> key;
    for (const std::string& tenant : call.services.keys.tenants()) {
        for (core::KeyRecord& each : call.services.keys.list(tenant)) {
            if (each.id == aim.key) key = std::move(each);
        }
    }
    if (!key) throw Error{Errc::not_found, "there is no such key"};
    if (key->id == call.who.key_id)
        throw Error{Errc::invalid_argument, "this key would stop itself; use another one, or stop all"};
    call.services.brakes.stop_creates_of(key->id);
    co_await call.services.keys.revoke(key->id, key->tenant);
    core::Event event{.type = "key.revoked", .tenant = key->tenant};
    event.fields = {{"name", core::json_text(key->name)}};
    call.sign(event.fields);
    event.fields["subject"] = key->id;
    core::emit_or_log(call.services.events, std::move(event));
    aim.ids = those(call, [&](const core::SandboxRecord& each) { return each.key_id == key->id; });
    co_return aim;
}

// Held, cut off, and with a key that is of no use any more.
Task<> stop(Call& call) {
    require_operator(call);
    Body body = co_await Body::read(call.exchange);
    Aim aim = aim_of(call, std::move(body));
    if (!aim.key.empty()) aim = co_await stop_key(call, std::move(aim));
    const core::BrakeFacts facts = co_await pull(call, Brake::hold, aim);
    co_await pull(call, Brake::cut_egress, aim);
    boost::json::object shown = facts_json(call, facts);
    shown["held"] = aim.all ? facts.held : aim.ids.size();
    if (!aim.key.empty()) shown["revoked"] = aim.key;
    co_await call.answer(200, std::move(shown));
}

Task<> put_down(Call& call) {
    require_operator(call);
    co_await call.services.brakes.put_down(call.sandbox_id(), call.who);
    co_await call.answer_empty();
}

Task<> show(Call& call) {
    require_operator(call);
    boost::json::object shown = facts_json(call, {});
    shown.erase("moving");
    const auto held = those(call, [](const core::SandboxRecord& each) { return each.held; });
    const auto cut = those(call, [](const core::SandboxRecord& each) { return each.egress_off; });
    shown["held"] = boost::json::array(held.begin(), held.end());
    shown["without_egress"] = boost::json::array(cut.begin(), cut.end());
    co_await call.answer(200, std::move(shown));
}

constexpr Route kRoutes[] = {
    {"GET", "/v1/brakes", Scope::admin, show},
    {"POST", "/v1/brakes/hold", Scope::admin, hold},
    {"POST", "/v1/brakes/release", Scope::admin, release},
    {"POST", "/v1/brakes/egress-off", Scope::admin, cut_egress},
    {"POST", "/v1/brakes/egress-on", Scope::admin, open_egress},
    {"POST", "/v1/brakes/stop", Scope::admin, stop},
    {"POST", "/v1/sandboxes/{id}/put-down", Scope::admin, put_down},
};

}  // namespace

std::span<const Route> brake_routes() {
    return kRoutes;
}

}  // namespace oyat::native
