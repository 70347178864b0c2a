#include "api/e2b/agent_facts.hpp"

#include <algorithm>
#include <boost/json/object.hpp>

#include "api/e2b/sandbox_view.hpp"
#include "core/event_json.hpp"

namespace oyat::e2b {
namespace {

namespace json = boost::json;

Task<> answer_json(http::Exchange& exchange, json::object value) {
    std::string body;
    core::append_json(body, value);
    co_await exchange.respond(200, {{"Content-Type", "application/json"}, {"Cache-Control", "no-store"}},
                              std::move(body));
}

}  // namespace

Task<> answer_health(AgentCall& call) {
    co_await call.exchange.respond(204, {{"Cache-Control", "no-store"}}, "");
}

Task<> answer_metrics(AgentCall& call) {
    constexpr std::uint64_t kMiB = 1024 * 1024;
    const core::SandboxRecord& record = call.sandbox->record();
    const std::vector<core::UsageSample> samples = call.services.sandboxes.samples(record.id, record.tenant);
    core::UsageSample sample{.time = call.services.clock.wall(), .usage = co_await call.sandbox->usage()};
    if (!samples.empty()) sample.cpu_percent = samples.back().cpu_percent;
    const json::object view = metric_view(record, sample);
    co_await answer_json(call.exchange,
                         {{"ts", view.at("timestampUnix")},
                          {"cpu_count", view.at("cpuCount")},
                          {"cpu_used_pct", view.at("cpuUsedPct")},
                          {"mem_total", view.at("memTotal")},
                          {"mem_used", view.at("memUsed")},
                          {"mem_cache", view.at("memCache")},
                          {"mem_total_mib", view.at("memTotal").to_number<std::uint64_t>() / kMiB},
                          {"mem_used_mib", view.at("memUsed").to_number<std::uint64_t>() / kMiB},
                          {"disk_used", view.at("diskUsed")},
                          {"disk_total", view.at("diskTotal")}});
}

Task<> answer_variables(AgentCall& call) {
    json::object variables;
    for (const auto& [name, value] : call.sandbox->environment()) variables[name] = value;
    for (const auto& [name, value] : place_variables(call.sandbox->record())) variables[name] = value;
    co_await answer_json(call.exchange, std::move(variables));
}

std::map<std::string, std::string> place_variables(const core::SandboxRecord& record) {
    return {{"E2B_SANDBOX", "true"},
            {"E2B_SANDBOX_ID", record.id},
            {"E2B_TEMPLATE_ID", template_id(record)},
            {"E2B_TEAM_ID", record.tenant}};
}

}  // namespace oyat::e2b
