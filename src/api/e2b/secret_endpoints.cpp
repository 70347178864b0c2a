#include <algorithm>
#include <boost/json/array.hpp>

#include "api/e2b/endpoint.hpp"
#include "core/json_text.hpp"
#include "rpc/message.hpp"

// Secrets: a value comes in and is never shown again. A fork of the client speaks a dialect with hosts.
namespace oyat::e2b {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxPage = 100;

secrets::Vault& vault_of(ControlCall& call) {
    if (call.services.vault == nullptr) throw Error{Errc::unimplemented, "this server keeps no secrets"};
    return *call.services.vault;
}

bool speaks_dialect(const ControlCall& call) {
    return call.exchange.request().fields.has("X-Novita-SDK-Name");
}

json::object view(const secrets::Secret& secret) {
    return {{"secretID", secret.id},
            {"name", secret.name},
            {"currentVersion", secret.current().number},
            {"metadata", core::json_texts(secret.metadata)},
            {"createdAt", to_rfc3339(secret.created)},
            {"updatedAt", to_rfc3339(secret.updated)}};
}

json::object dialect_view(const secrets::Secret& secret) {
    json::object shown = view(secret);
    shown["hosts"] = core::json_texts(secret.hosts);
    shown["description"] = core::json_text(secret.description);
    return shown;
}

json::object shown(const ControlCall& call, const secrets::Secret& secret) {
    return speaks_dialect(call) ? dialect_view(secret) : view(secret);
}

std::string value_in(const rpc::Message& body) {
    std::string value = body.string("value");
    if (value.empty()) throw Error{Errc::invalid_argument, "'value' is missing"};
    return value;
}

std::size_t page_size(const http::Query& query) {
    const std::string given = query.get("limit").value_or("");
    if (given.empty()) return kMaxPage;
    const bool is_number =
        given.size() <= 3 && std::ranges::all_of(given, [](char c) { return c >= '0' && c <= '9'; });
    const std::size_t limit = is_number ? std::stoul(given) : 0;
    if (limit < 1 || limit > kMaxPage)
        throw Error{Errc::invalid_argument, "'limit' is not a number from 1 to 100"};
    return limit;
}

// By name; a page's token is the last name on it.
Task<Reply> list(ControlCall& call) {
    const std::vector<secrets::Secret> all = vault_of(call).list(call.who.tenant);
    json::array page;
    if (speaks_dialect(call)) {
        for (const secrets::Secret& secret : all) page.push_back(dialect_view(secret));
        co_return Reply::json(200, json::object{{"secrets", std::move(page)}});
    }
    const http::Query query = call.query();
    const std::size_t limit = page_size(query);
    const std::string after = query.get("nextToken").value_or("");
    std::string last;
    bool more = false;
    for (const secrets::Secret& secret : all) {
        if (secret.name <= after) continue;
        more = page.size() == limit;
        if (more) break;
        page.push_back(view(secret));
        last = secret.name;
    }
    Reply reply = Reply::json(200, std::move(page));
    if (more) reply.fields.add("X-Next-Token", last);
    co_return reply;
}

Task<Reply> create(ControlCall& call) {
    const json::object object = co_await call.object();
    const rpc::Message body{object};
    secrets::Vault::NewSecret wanted{.name = body.string("name"),
                                     .value = value_in(body),
                                     .metadata = body.string_map("metadata"),
                                     .description = body.string("description"),
                                     .hosts = body.strings("hosts")};
    const secrets::Secret made = co_await vault_of(call).create(std::move(wanted), call.who);
    co_return Reply::json(201, shown(call, made));
}

Task<Reply> get(ControlCall& call) {
    co_return Reply::json(200, shown(call, vault_of(call).find(call.who.tenant, call.values.at("name"))));
}

Task<Reply> update(ControlCall& call) {
    const json::object object = co_await call.object();
    const rpc::Message body{object};
    secrets::Vault::Rotation change{.value = value_in(body)};
    if (body.has("metadata")) change.metadata = body.string_map("metadata");
    if (body.has("hosts")) change.hosts = body.strings("hosts");
    const secrets::Secret changed =
        co_await vault_of(call).rotate(call.values.at("name"), std::move(change), call.who);
    co_return Reply::json(200, shown(call, changed));
}

Task<Reply> remove(ControlCall& call) {
    const std::string name = vault_of(call).find(call.who.tenant, call.values.at("name")).name;
    co_await vault_of(call).remove(name, call.who);
    if (speaks_dialect(call)) co_return Reply::json(200, json::object{{"deleted", name}});
    co_return Reply::empty(204);
}

constexpr Endpoint kEndpoints[] = {
    {"GET", "/secrets", Need::look, list},         {"POST", "/secrets", Need::run, create},
    {"GET", "/secrets/{name}", Need::look, get},   {"POST", "/secrets/{name}", Need::run, update},
    {"PUT", "/secrets/{name}", Need::run, update}, {"DELETE", "/secrets/{name}", Need::run, remove},
};

}  // namespace

std::span<const Endpoint> secret_endpoints() {
    return kEndpoints;
}

}  // namespace oyat::e2b
