#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>

#include "api/e2b/create_request.hpp"
#include "api/e2b/endpoint.hpp"
#include "api/e2b/error_answer.hpp"
#include "api/e2b/sandbox_view.hpp"
#include "base/throwing.hpp"
#include "rpc/message.hpp"

// Copies of sandboxes: snapshots, which go by the name of templates here, and forks.
namespace oyat::e2b {
namespace {

namespace json = boost::json;

constexpr std::uint64_t kMost = 100;  // of a list's page, and of forks

std::uint64_t count_of(const json::value& value, std::string_view name) {
    boost::system::error_code failed;
    const auto count = value.to_number<std::uint64_t>(failed);
    if (failed || count < 1 || count > kMost)
        throw Error{Errc::invalid_argument, "'" + std::string{name} + "' is a number from 1 to 100"};
    return count;
}

std::size_t limit_of(const http::Query& query) {
    const std::optional<std::string> text = query.get("limit");
    if (!text) return kMost;
    boost::system::error_code failed;
    return count_of(json::parse(*text, failed), "limit");
}

// "TENANT/NAME:TAG", or the id with the tag that all have without one.
std::string snapshot_id(const core::SnapshotRecord& record) {
    return record.name.empty() ? record.id + ":default"
                               : record.tenant + "/" + record.name + ":" + record.tag;
}

json::object view(const core::SnapshotRecord& record) {
    json::array names;
    if (!record.name.empty()) names.emplace_back(record.tenant + "/" + record.name);
    return {{"snapshotID", snapshot_id(record)}, {"names", std::move(names)}};
}

Task<Reply> make(ControlCall& call) {
    const std::string id = call.sandbox_id();
    (void)call.services.sandboxes.find(id, call.who.tenant);
    const json::object body = co_await call.object();
    co_return Reply::json(201, view(co_await call.services.snapshots.make_snapshot(
                                   id, rpc::Message{body}.string("name"), call.who)));
}

// A page ends with an id, and the next begins behind it.
Task<Reply> list(ControlCall& call) {
    const http::Query query = call.query();
    core::SnapshotFilter filter{.tenant = call.who.tenant};
    filter.sandbox = sandbox_named(query.get("sandboxID").value_or(""));
    filter.name = query.get("name").value_or("");
    const std::size_t limit = limit_of(query);
    const std::vector<core::SnapshotRecord> all = call.services.snapshots.snapshots(filter);
    auto at = all.begin();
    if (const auto token = query.get("nextToken"); token && !token->empty()) {
        at = std::ranges::find(all, *token, &core::SnapshotRecord::id);
        if (at == all.end()) throw Error{Errc::invalid_argument, "'nextToken' is none of this list"};
        ++at;
    }
    json::array shown;
    for (; at != all.end() && shown.size() < limit; ++at) shown.push_back(view(*at));
    Reply reply = Reply::json(200, shown);
    if (at != all.end()) reply.fields.add("X-Next-Token", std::prev(at)->id);
    co_return reply;
}

Task<Reply> remove(ControlCall& call) {
    const std::string reference = call.values.at("id");
    if (call.services.templates.knows(reference)) {
        throw Error{Errc::unimplemented,
                    "removing templates over this API is not available in this release: `oyat template rm`"};
    }
    co_await call.services.snapshots.remove_snapshot(reference, call.who);
    co_return Reply::empty(204);
}

json::object view(const core::Fork& fork, const Settings& settings) {
    if (fork.sandbox) return {{"sandbox", connection_view(fork.sandbox->record(), settings)}};
    const int status = control_status(*fork.error);
    return {{"error", {{"code", status}, {"message", fork.error->message()}}}};
}

Task<Reply> fork(ControlCall& call) {
    const std::string id = call.sandbox_id();
    (void)call.services.sandboxes.find(id, call.who.tenant);
    const json::object body = co_await call.object();
    core::ForkOrder order;
    order.timeout =
        or_throw(read_timeout(body, "timeout", std::chrono::seconds{300}, call.services.settings));
    if (order.timeout == Millis{0}) throw Error{Errc::invalid_argument, "'timeout' must be more than 0"};
    if (const json::value* count = body.if_contains("count"); count != nullptr && !count->is_null())
        order.count = static_cast<std::uint32_t>(count_of(*count, "count"));
    json::array shown;
    for (const core::Fork& each : co_await call.services.snapshots.fork(id, order, call.who))
        shown.push_back(view(each, call.services.settings));
    co_return Reply::json(201, shown);
}

constexpr Endpoint kEndpoints[] = {
    {"POST", "/sandboxes/{id}/snapshots", Need::run, make},
    {"POST", "/sandboxes/{id}/fork", Need::run, fork},
    {"GET", "/snapshots", Need::look, list},
    {"DELETE", "/templates/{id*}", Need::run, remove},
};

}  // namespace

std::span<const Endpoint> snapshot_endpoints() {
    return kEndpoints;
}

}  // namespace oyat::e2b
