#include <boost/json/array.hpp>
#include <limits>

#include "api/e2b/endpoint.hpp"
#include "api/e2b/sandbox_list.hpp"
#include "api/e2b/sandbox_view.hpp"
#include "base/throwing.hpp"

namespace oyat::e2b {
namespace {

namespace json = boost::json;

using Found = std::vector<std::shared_ptr<core::Sandbox>>;

json::array listed(const std::vector<const core::SandboxRecord*>& records) {
    json::array list;
    list.reserve(records.size());
    for (const core::SandboxRecord* record : records) list.push_back(listed_view(*record));
    return list;
}

std::vector<const core::SandboxRecord*> records_of(const Found& found) {
    std::vector<const core::SandboxRecord*> records;
    records.reserve(found.size());
    for (const auto& sandbox : found) records.push_back(&sandbox->record());
    return records;
}

core::ListFilter filter_of(const ListQuery& query, const std::string& tenant) {
    core::ListFilter filter{.tenant = tenant,
                            .states = query.states,
                            .metadata = query.metadata,
                            .template_ref = query.template_ref};
    if (filter.states.empty()) filter.states = {core::SandboxState::running, core::SandboxState::paused};
    return filter;
}

Task<Reply> list(ControlCall& call) {
    const ListQuery query = or_throw(ListQuery::parse(call.query()));
    const Found found = call.services.sandboxes.list(filter_of(query, call.who.tenant));
    const ListPage page = page_of(records_of(found), query);
    Reply reply = Reply::json(200, listed(page.records));
    if (page.next) reply.fields.add("X-Next-Token", page.next->text());
    const Found running = call.services.sandboxes.list(
        core::ListFilter{.tenant = call.who.tenant, .states = {core::SandboxState::running}});
    reply.fields.add("X-Total-Running", std::to_string(running.size()));
    co_return reply;
}

// The older form knows running sandboxes only, and no pages.
Task<Reply> list_running(ControlCall& call) {
    ListQuery query = or_throw(ListQuery::parse(call.query()));
    query.states = {core::SandboxState::running};
    query.limit = std::numeric_limits<std::size_t>::max();
    query.cursor.reset();
    const Found found = call.services.sandboxes.list(filter_of(query, call.who.tenant));
    co_return Reply::json(200, listed(page_of(records_of(found), query).records));
}

// Throws not_found, with what became of a sandbox that ended within the last day.
std::shared_ptr<core::Sandbox> find(ControlCall& call, const std::string& id) {
    const std::optional<core::SandboxRecord> ended = call.services.sandboxes.ended(id, call.who.tenant);
    if (!ended) return call.services.sandboxes.find(id, call.who.tenant);
    std::string sentence = "sandbox " + id + " ended at " + to_rfc3339(ended->ended_at) + ": " +
                           std::string{core::to_string(ended->ended_by)};
    if (!ended->ended_detail.empty()) sentence += " (" + ended->ended_detail + ")";
    throw Error{Errc::not_found, std::move(sentence)};
}

Task<Reply> info(ControlCall& call) {
    const std::shared_ptr<core::Sandbox> sandbox = find(call, call.sandbox_id());
    co_return Reply::json(200, detail_view(*sandbox, call.services.settings, call.who.may(core::Scope::run)));
}

// The key that asked is known to who sent it, and is not sent back.
Task<Reply> teams(ControlCall& call) {
    co_return Reply::json(
        200,
        json::array{
            {{"teamID", call.who.tenant}, {"name", call.who.tenant}, {"apiKey", ""}, {"isDefault", true}}});
}

Task<Reply> health(ControlCall&) {
    co_return Reply::empty(204);
}

constexpr Endpoint kEndpoints[] = {
    {"GET", "/v2/sandboxes", Need::look, list},   {"GET", "/sandboxes", Need::look, list_running},
    {"GET", "/sandboxes/{id}", Need::look, info}, {"GET", "/teams", Need::look, teams},
    {"GET", "/health", Need::nothing, health},
};

}  // namespace

std::span<const Endpoint> listing_endpoints() {
    return kEndpoints;
}

}  // namespace oyat::e2b
