#include <algorithm>
#include <array>
#include <boost/json/array.hpp>

#include "api/native/body.hpp"
#include "api/native/call.hpp"
#include "core/json_text.hpp"

// API keys and what they may do.
namespace oyat::native {
namespace {

using core::Scope;

struct NamedScope {
    std::string_view name;
    Scope scope;
};
constexpr std::array<NamedScope, 4> kScopes{
    {{"run", Scope::run}, {"read", Scope::read}, {"debug", Scope::debug}, {"admin", Scope::admin}}};
constexpr std::size_t kMaxName = 64;

std::uint8_t scopes_of(const std::vector<std::string>& words) {
    std::uint8_t scopes = 0;
    for (const std::string& word : words) {
        const auto found = std::ranges::find(kScopes, std::string_view{word}, &NamedScope::name);
        if (found == kScopes.end()) {
            throw Error{Errc::invalid_argument, "a scope is one of run, read, debug and admin"};
        }
        scopes |= static_cast<std::uint8_t>(found->scope);
    }
    if (scopes == 0)
        throw Error{Errc::invalid_argument, "scopes is missing: a list of run, read, debug, admin"};
    return scopes;
}

boost::json::array scopes_json(std::uint8_t scopes) {
    boost::json::array names;
    for (const NamedScope& each : kScopes) {
        if ((scopes & static_cast<std::uint8_t>(each.scope)) != 0)
            names.push_back(boost::json::string{each.name});
    }
    return names;
}

boost::json::object key_json(const core::KeyRecord& key) {
    return {{"id", key.id},
            {"name", core::json_text(key.name)},
            {"tenant", key.tenant},
            {"scopes", scopes_json(key.scopes)},
            {"created", to_rfc3339(key.created)},
            {"revoked", key.revoked}};
}

// Tenants are names in file names and records.
void check_tenant(std::string_view tenant) {
    const auto fits = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
    if (tenant.empty() || tenant.size() > 40 || !std::ranges::all_of(tenant, fits)) {
        throw Error{Errc::invalid_argument, "a tenant's name is 1 to 40 of a-z, 0-9 and '-'"};
    }
}

// Whose keys this call is about. Only who runs the server may name another tenant.
std::string tenant_of(const Call& call, const std::optional<std::string>& asked) {
    if (!asked || *asked == call.who.tenant) return call.who.tenant;
    if (!call.of_operator()) throw Error{Errc::denied, "this key belongs to another tenant"};
    check_tenant(*asked);
    return *asked;
}

void emit(Call& call, std::string type, const core::KeyRecord& key) {
    core::Event event;
    event.type = std::move(type);
    event.tenant = key.tenant;
    event.fields = {{"name", core::json_text(key.name)}, {"scopes", scopes_json(key.scopes)}};
    call.sign(event.fields);
    event.fields["subject"] = key.id;
    call.services.events.emit(std::move(event));
}

Task<> create(Call& call) {
    Body body = co_await Body::read(call.exchange);
    std::string name = body.text("name").value_or("");
    std::string tenant = tenant_of(call, body.text("tenant"));
    const std::uint8_t scopes = scopes_of(body.texts("scopes"));
    body.done();
    if (name.size() > kMaxName) throw Error{Errc::invalid_argument, "a key's name has at most 64 bytes"};
    const auth::Keys::NewKey made =
        co_await call.services.keys.create(std::move(name), std::move(tenant), scopes);
    emit(call, "key.created", made.record);
    boost::json::object shown = key_json(made.record);
    shown["key"] = made.key;
    co_await call.answer(201, std::move(shown));
}

Task<> list(Call& call) {
    boost::json::array all;
    for (const core::KeyRecord& key : call.services.keys.list(tenant_of(call, call.query.get("tenant")))) {
        all.push_back(key_json(key));
    }
    co_await call.answer(200, boost::json::object{{"keys", std::move(all)}});
}

Task<> revoke(Call& call) {
    const std::string tenant = tenant_of(call, call.query.get("tenant"));
    const std::string id = call.values.at("key");
    const std::vector<core::KeyRecord> known = call.services.keys.list(tenant);
    const auto key = std::ranges::find(known, id, &core::KeyRecord::id);
    if (key == known.end()) throw Error{Errc::not_found, "there is no such key"};
    co_await call.services.keys.revoke(id, tenant);
    emit(call, "key.revoked", *key);
    co_await call.answer_empty();
}

constexpr Route kRoutes[] = {
    {"POST", "/v1/keys", Scope::admin, create},
    {"GET", "/v1/keys", Scope::admin, list},
    {"DELETE", "/v1/keys/{key}", Scope::admin, revoke},
};

}  // namespace

std::span<const Route> key_routes() {
    return kRoutes;
}

}  // namespace oyat::native
