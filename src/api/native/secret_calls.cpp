#include <boost/json/array.hpp>

#include "api/native/body.hpp"
#include "api/native/call.hpp"
#include "api/native/secret_json.hpp"
#include "base/throwing.hpp"

// Secrets and what they are bound to. A value comes in and never goes out.
namespace oyat::native {
namespace {

using core::Scope;

constexpr std::uint64_t kMaxGrace = 30ull * 24 * 3600 * 1000;
constexpr std::uint64_t kMaxTime = 1ull << 50;

secrets::Vault& vault_of(Call& call) {
    if (call.services.vault == nullptr) throw Error{Errc::unimplemented, "this server keeps no secrets"};
    return *call.services.vault;
}

secrets::Secrets& broker_of(Call& call) {
    if (call.services.secrets == nullptr) throw Error{Errc::unimplemented, "this server keeps no secrets"};
    return *call.services.secrets;
}

std::string required(std::optional<std::string> text, std::string_view name) {
    if (!text) throw Error{Errc::invalid_argument, std::string{name} + " is missing"};
    return *std::move(text);
}

std::optional<WallTime> time_of(const std::optional<std::uint64_t>& millis) {
    if (!millis) return std::nullopt;
    return from_unix_millis(static_cast<std::int64_t>(*millis));
}

Task<> create(Call& call) {
    Body body = co_await Body::read(call.exchange);
    secrets::Vault::NewSecret wanted{.name = required(body.text("name"), "name"),
                                     .value = required(body.text("value"), "value"),
                                     .metadata = body.map("metadata"),
                                     .description = body.text("description").value_or(""),
                                     .hosts = body.texts("hosts"),
                                     .expires = time_of(body.number("expires_ms", kMaxTime))};
    body.done();
    const secrets::Secret made = co_await vault_of(call).create(std::move(wanted), call.who);
    co_await call.answer(201, secret_json(made));
}

Task<> list(Call& call) {
    boost::json::array all;
    for (const secrets::Secret& secret : vault_of(call).list(call.who.tenant))
        all.push_back(secret_json(secret));
    co_await call.answer(200, boost::json::object{{"secrets", std::move(all)}});
}

Task<> get(Call& call) {
    co_await call.answer(200, secret_json(vault_of(call).find(call.who.tenant, call.values.at("name"))));
}

Task<> rotate(Call& call) {
    Body body = co_await Body::read(call.exchange);
    secrets::Vault::Rotation change{.value = required(body.text("value"), "value"),
                                    .grace = Millis{body.number("grace_ms", kMaxGrace).value_or(0)},
                                    .expires = time_of(body.number("expires_ms", kMaxTime))};
    body.done();
    const secrets::Secret changed =
        co_await vault_of(call).rotate(call.values.at("name"), std::move(change), call.who);
    co_await call.answer(200, secret_json(changed));
}

Task<> revoke(Call& call) {
    co_await call.answer(200, secret_json(co_await vault_of(call).revoke(call.values.at("name"), call.who)));
}

Task<> remove(Call& call) {
    co_await vault_of(call).remove(call.values.at("name"), call.who);
    co_await call.answer_empty();
}

// --- bindings of one sandbox
// --------------------------------------------------------------------------------

Task<> bound(Call& call) {
    const std::string id = call.sandbox()->record().id;
    boost::json::array all;
    for (const secrets::Secrets::Shown& each : broker_of(call).bindings(id))
        all.push_back(binding_json(each));
    co_await call.answer(200, boost::json::object{{"bindings", std::move(all)}});
}

Task<> bind(Call& call) {
    const std::string id = call.sandbox_id();
    Body body = co_await Body::read(call.exchange);
    core::SecretPlan plan = plan_of(body);
    body.done();
    if (plan.empty()) throw Error{Errc::invalid_argument, "secrets is missing: a list of bindings"};
    co_await call.services.sandboxes.bind_secrets(id, std::move(plan), call.who);
    co_await bound(call);
}

Task<> unbind(Call& call) {
    co_await call.services.sandboxes.unbind_secret(call.sandbox_id(), call.values.at("binding"), call.who);
    co_await call.answer_empty();
}

// --- who a sandbox is, for services that trust this server
// -------------------------------------------------------

const secrets::Identities& identities_of(Call& call) {
    if (call.services.identities == nullptr) throw Error{Errc::not_found, "this server signs no tokens"};
    return *call.services.identities;
}

Task<> key_set(Call& call) {
    co_await call.answer(200, identities_of(call).key_set());
}

// The part of OpenID Connect Discovery by which verifiers find the keys.
Task<> discovery(Call& call) {
    const std::string& issuer = identities_of(call).issuer();
    co_await call.answer(
        200, boost::json::object{{"issuer", issuer},
                                 {"jwks_uri", issuer + "/.well-known/jwks.json"},
                                 {"response_types_supported", boost::json::array{"id_token"}},
                                 {"subject_types_supported", boost::json::array{"public"}},
                                 {"id_token_signing_alg_values_supported", boost::json::array{"ES256"}}});
}

constexpr Route kRoutes[] = {
    {"POST", "/v1/secrets", Scope::run, create},
    {"GET", "/v1/secrets", Scope::read, list},
    {"GET", "/v1/secrets/{name}", Scope::read, get},
    {"POST", "/v1/secrets/{name}/rotate", Scope::run, rotate},
    {"POST", "/v1/secrets/{name}/revoke", Scope::run, revoke},
    {"DELETE", "/v1/secrets/{name}", Scope::run, remove},
    {"GET", "/v1/sandboxes/{id}/secrets", Scope::read, bound},
    {"POST", "/v1/sandboxes/{id}/secrets", Scope::run, bind},
    {"DELETE", "/v1/sandboxes/{id}/secrets/{binding}", Scope::run, unbind},
    {"GET", "/.well-known/jwks.json", std::nullopt, key_set},
    {"GET", "/.well-known/openid-configuration", std::nullopt, discovery},
};

}  // namespace

std::span<const Route> secret_routes() {
    return kRoutes;
}

}  // namespace oyat::native
