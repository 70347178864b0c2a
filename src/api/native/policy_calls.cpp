#include <boost/json/array.hpp>
#include <boost/json/serialize.hpp>
#include <charconv>

#include "api/native/body.hpp"
#include "api/native/call.hpp"
#include "api/native/policy_json.hpp"
#include "base/throwing.hpp"
#include "core/json_text.hpp"

// Policies: what is in force for a sandbox, the documents behind it, and what they would say.
namespace oyat::native {
namespace {

namespace json = boost::json;
using core::Scope;

constexpr std::size_t kMaxDocument = 2 * policy::Document::kMaxBytes;  // as JSON a document may be longer

std::optional<std::uint64_t> if_match(const Call& call) {
    std::string_view given = call.exchange.request().fields.get("If-Match");
    if (given.empty()) return std::nullopt;
    if (given.size() > 2 && given.starts_with('"') && given.ends_with('"'))
        given = given.substr(1, given.size() - 2);
    std::uint64_t generation = 0;
    const auto [end, failed] = std::from_chars(given.data(), given.data() + given.size(), generation);
    if (failed != std::errc{} || end != given.data() + given.size())
        throw Error{Errc::invalid_argument, "If-Match is a generation, as GET shows it"};
    return generation;
}

// Documents come with the text they were written in, so that mistakes have a line and a column.
Task<policy::DocumentPtr> read_document(Call& call) {
    const std::string text = co_await call.exchange.read_whole_body(kMaxDocument);
    const policy::Vocabulary& words = *call.services.policies.of_operator().words;
    const bool toml = call.exchange.request().fields.get("Content-Type").starts_with("application/toml");
    Result<policy::Document> read =
        toml ? policy::document_from_toml(text, words) : policy::document_from_json(text, words);
    co_return std::make_shared<const policy::Document>(or_throw(std::move(read)));
}

json::object change_json(const core::PolicyChange& change) {
    json::object shown{{"cut", change.cut}};
    if (change.generation != 0) shown["generation"] = change.generation;
    return shown;
}

Task<> show(Call& call) {
    const core::PolicyPtr policy = call.services.sandboxes.policy(call.sandbox_id(), call.who.tenant);
    co_await call.answer(200, policy_json(*policy));
}

Task<> replace(Call& call) {
    const policy::DocumentPtr document = co_await read_document(call);
    const core::PolicyChange change = co_await call.services.sandboxes.set_policy(
        call.sandbox_id(), {.document = to_json(*document), .if_match = if_match(call)}, call.who);
    co_await call.answer(200, change_json(change));
}

Task<> remove(Call& call) {
    const core::PolicyChange change = co_await call.services.sandboxes.set_policy(
        call.sandbox_id(), {.if_match = if_match(call)}, call.who);
    co_await call.answer(200, change_json(change));
}

Task<> patch(Call& call) {
    const std::string id = call.sandbox_id();
    Body body = co_await Body::read(call.exchange);
    const core::PolicyPtr policy = call.services.sandboxes.policy(id, call.who.tenant);
    json::object document = own_document(*policy);
    change_rules(document, body);
    body.done();
    // Judged and put in place against the generation that it was made from.
    const core::PolicyChange change = co_await call.services.sandboxes.set_policy(
        id, {.document = std::move(document), .if_match = if_match(call).value_or(policy->generation)},
        call.who);
    co_await call.answer(200, change_json(change));
}

Task<> explain(Call& call) {
    Body body = co_await Body::read(call.exchange);
    std::optional<Body> connect = body.object("connect");
    if (!connect) throw Error{Errc::invalid_argument, "connect is missing: {\"host\": ..., \"port\": ...}"};
    const core::PolicyPtr policy = call.services.sandboxes.policy(call.sandbox_id(), call.who.tenant);
    json::object answer = explain_json(*policy, *connect, call.services.clock.wall());
    connect->done();
    body.done();
    co_await call.answer(200, std::move(answer));
}

Task<> check(Call& call) {
    const policy::DocumentPtr document = co_await read_document(call);
    json::array remarks;
    for (const policy::Remark& remark :
         review(*document, call.services.policies.of_operator().ground, call.services.clock.wall())) {
        remarks.push_back(
            {{"rule", core::json_text(remark.rule)}, {"sentence", core::json_text(remark.sentence)}});
    }
    co_await call.answer(200, json::object{{"rules", document->rules.size()},
                                           {"default", to_string(document->fallback)},
                                           {"remarks", std::move(remarks)}});
}

Task<> show_above(Call& call, policy::Layer layer, std::string key) {
    const policy::DocumentPtr document = call.services.policies.above(layer, key);
    co_await call.answer(200, json::object{{"layer", to_string(layer)},
                                           {"document", document ? json::value(to_json(*document)) : nullptr},
                                           {"digest", core::digest_of(document)}});
}
Task<> set_above(Call& call, policy::Layer layer, std::string key, std::optional<json::object> document) {
    co_await call.answer(200, change_json(co_await call.services.sandboxes.set_policy_above(
                                  layer, std::move(key), std::move(document), call.who)));
}

Task<> show_server(Call& call) {
    return show_above(call, policy::Layer::server, {});
}
Task<> show_tenant(Call& call) {
    return show_above(call, policy::Layer::tenant, call.who.tenant);
}
Task<> set_tenant(Call& call) {
    const policy::DocumentPtr document = co_await read_document(call);
    co_await set_above(call, policy::Layer::tenant, call.who.tenant, to_json(*document));
}
Task<> remove_tenant(Call& call) {
    return set_above(call, policy::Layer::tenant, call.who.tenant, std::nullopt);
}

// Templates are everybody's, so who runs the server says what holds for them.
Task<std::string> own_template(Call& call) {
    if (!call.of_operator())
        throw Error{Errc::denied, "only who runs the server sets the policy of a template"};
    co_return (co_await call.services.templates.resolve(call.values.at("ref"))).digest;
}
Task<> show_template(Call& call) {
    const std::string digest = (co_await call.services.templates.resolve(call.values.at("ref"))).digest;
    co_await show_above(call, policy::Layer::template_, digest);
}
Task<> set_template(Call& call) {
    std::string digest = co_await own_template(call);
    const policy::DocumentPtr document = co_await read_document(call);
    co_await set_above(call, policy::Layer::template_, std::move(digest), to_json(*document));
}
Task<> remove_template(Call& call) {
    co_await set_above(call, policy::Layer::template_, co_await own_template(call), std::nullopt);
}

Task<> denied(Call& call) {
    const std::string id = call.sandbox_id();
    if (core::own_sandbox(call.services.sandboxes, id, call.who.tenant).empty())
        throw Error{Errc::not_found, "sandbox " + id + " not found"};
    constexpr std::size_t kMost = 10'000;
    const auto events =
        call.services.events.recent({.tenant = call.who.tenant, .sandbox = id, .type_prefix = ""}, kMost);
    co_await call.answer(200, json::object{{"denied", denied_json(events)}});
}

constexpr Route kRoutes[] = {
    {"GET", "/v1/sandboxes/{id}/policy", Scope::read, show},
    {"PUT", "/v1/sandboxes/{id}/policy", Scope::run, replace},
    {"PATCH", "/v1/sandboxes/{id}/policy", Scope::run, patch},
    {"DELETE", "/v1/sandboxes/{id}/policy", Scope::run, remove},
    {"POST", "/v1/sandboxes/{id}/policy:explain", Scope::read, explain},
    {"GET", "/v1/sandboxes/{id}/denied", Scope::read, denied},
    {"POST", "/v1/policies:check", Scope::read, check},
    {"GET", "/v1/server/policy", Scope::read, show_server},
    {"GET", "/v1/tenants/self/policy", Scope::read, show_tenant},
    {"PUT", "/v1/tenants/self/policy", Scope::admin, set_tenant},
    {"DELETE", "/v1/tenants/self/policy", Scope::admin, remove_tenant},
    {"GET", "/v1/templates/{ref}/policy", Scope::read, show_template},
    {"PUT", "/v1/templates/{ref}/policy", Scope::admin, set_template},
    {"DELETE", "/v1/templates/{ref}/policy", Scope::admin, remove_template},
};

}  // namespace

std::span<const Route> policy_routes() {
    return kRoutes;
}

}  // namespace oyat::native
