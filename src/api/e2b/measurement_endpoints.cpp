#include <boost/json/array.hpp>
#include <charconv>

#include "api/e2b/endpoint.hpp"
#include "api/e2b/log_view.hpp"
#include "api/e2b/sandbox_view.hpp"
#include "base/throwing.hpp"

namespace oyat::e2b {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxIds = 100;

std::optional<std::int64_t> seconds_of(const http::Query& query, std::string_view name) {
    const std::optional<std::string> text = query.get(name);
    if (!text) return std::nullopt;
    std::int64_t seconds = 0;
    const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), seconds);
    if (error != std::errc{} || end != text->data() + text->size()) {
        throw Error{Errc::invalid_argument, "'" + std::string{name} + "' is no number of seconds"};
    }
    return seconds;
}

Task<Reply> metrics(ControlCall& call) {
    const std::string id = call.sandbox_id();
    const http::Query query = call.query();
    const std::optional<std::int64_t> start = seconds_of(query, "start");
    const std::optional<std::int64_t> end = seconds_of(query, "end");
    if (start && end && *start > *end) throw Error{Errc::invalid_argument, "'start' is behind 'end'"};
    const std::shared_ptr<core::Sandbox> sandbox = call.services.sandboxes.find(id, call.who.tenant);
    json::array list;
    for (const core::UsageSample& sample : call.services.sandboxes.samples(id, call.who.tenant)) {
        const std::int64_t time = unix_millis(sample.time) / 1000;
        if ((start && time < *start) || (end && time > *end)) continue;
        list.push_back(metric_view(sandbox->record(), sample));
    }
    co_return Reply::json(200, list);
}

// The latest sample of each; ids that are unknown, foreign or without a sample yet are left out.
Task<Reply> metrics_of_many(ControlCall& call) {
    const std::string ids = call.query().get("sandbox_ids").value_or("");
    json::object latest;
    std::string_view rest = ids;
    for (std::size_t count = 0; !rest.empty(); ++count) {
        if (count == kMaxIds) throw Error{Errc::invalid_argument, "'sandbox_ids' has more than 100 ids"};
        const std::size_t comma = std::min(rest.find(','), rest.size());
        const std::string id{rest.substr(0, std::min(comma, rest.find('-')))};
        rest.remove_prefix(std::min(comma + 1, rest.size()));
        const std::shared_ptr<core::Sandbox> sandbox = call.services.sandboxes.find_any(id);
        if (sandbox == nullptr || sandbox->record().tenant != call.who.tenant) continue;
        const std::vector<core::UsageSample> samples = call.services.sandboxes.samples(id, call.who.tenant);
        if (!samples.empty()) latest[id] = metric_view(sandbox->record(), samples.back());
    }
    co_return Reply::json(200, json::object{{"sandboxes", std::move(latest)}});
}

Events events_of(ControlCall& call, const LogQuery& query) {
    const std::string id = call.sandbox_id();
    if (!call.services.sandboxes.ended(id, call.who.tenant)) {
        (void)call.services.sandboxes.find(id, call.who.tenant);  // throws not_found
    }
    const core::EventFilter filter{.tenant = call.who.tenant, .sandbox = id};
    return select(call.services.events.recent(filter, std::numeric_limits<std::size_t>::max()), query);
}

json::array entries_of(const Events& events) {
    json::array entries;
    for (const auto& event : events) entries.push_back(log_entry(*event));
    return entries;
}

Task<Reply> logs(ControlCall& call) {
    const Events events = events_of(call, or_throw(LogQuery::parse(call.query(), "start")));
    json::array lines;
    for (const auto& event : events) lines.push_back(log_line(*event));
    co_return Reply::json(200, json::object{{"logs", std::move(lines)}, {"logEntries", entries_of(events)}});
}

Task<Reply> logs_v2(ControlCall& call) {
    const Events events = events_of(call, or_throw(LogQuery::parse(call.query(), "cursor")));
    co_return Reply::json(200, json::object{{"logs", entries_of(events)}});
}

constexpr Endpoint kEndpoints[] = {
    {"GET", "/sandboxes/metrics", Need::look, metrics_of_many},
    {"GET", "/sandboxes/{id}/metrics", Need::look, metrics},
    {"GET", "/sandboxes/{id}/logs", Need::look, logs},
    {"GET", "/v2/sandboxes/{id}/logs", Need::look, logs_v2},
};

}  // namespace

std::span<const Endpoint> measurement_endpoints() {
    return kEndpoints;
}

}  // namespace oyat::e2b
