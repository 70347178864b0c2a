#include "api/e2b/sandbox_view.hpp"

#include <algorithm>
#include <cmath>

#include "api/e2b/header_rules.hpp"
#include "api/e2b/network_options.hpp"

namespace oyat::e2b {
namespace {

namespace json = boost::json;

constexpr std::uint64_t kMiB = 1024 * 1024;

// Older clients ask for the part of an id behind the dash; nothing reads it.
constexpr std::string_view kClientId = "oyat";

std::uint64_t cpu_count(const core::Limits& limits) {
    return std::max<std::uint64_t>(1, (limits.cpu_millis + 999) / 1000);
}

std::string_view state_word(core::SandboxState state) {
    return state == core::SandboxState::paused || state == core::SandboxState::pausing ? "paused" : "running";
}

json::object metadata_view(const core::SandboxRecord& record) {
    json::object metadata;
    for (const auto& [key, value] : record.metadata) metadata[key] = value;
    return metadata;
}

// As it was given, but for what is secret in it.
json::object network_view(const core::Sandbox& sandbox) {
    const core::SandboxRecord& record = sandbox.record();
    json::object view = lists_of(record.policy);
    if (const auto& via = record.via) {
        json::object proxy{{"address", via->host + ":" + std::to_string(via->port)}};
        if (!via->user.empty()) proxy["username"] = via->user;
        view["egressProxy"] = std::move(proxy);
    }
    if (json::object rules = header_rules_view(sandbox.header_rules()); !rules.empty())
        view["rules"] = std::move(rules);
    const core::Exposure& exposure = record.exposure;
    if (exposure.otherwise() != core::Reach::anyone) view["allowPublicTraffic"] = false;
    if (!exposure.host_mask.empty()) view["maskRequestHost"] = exposure.host_mask;
    if (!exposure.tls_ports.empty())
        view["httpsPorts"] = json::array(exposure.tls_ports.begin(), exposure.tls_ports.end());
    return view;
}

}  // namespace

std::string template_id(const core::SandboxRecord& record) {
    const std::string& name = record.template_name;
    return name.starts_with("sha256:") ? name : name.substr(0, name.find(':'));
}

json::object connection_view(const core::SandboxRecord& record, const Settings& settings) {
    json::object view{
        {"templateID", template_id(record)}, {"sandboxID", record.id},     {"clientID", kClientId},
        {"alias", template_id(record)},      {"envdVersion", kAgentLevel}, {"trafficAccessToken", nullptr}};
    if (record.secure) view["envdAccessToken"] = record.access_token;
    // Its presence tells clients that ports want it.
    if (record.exposure.otherwise() != core::Reach::anyone)
        view["trafficAccessToken"] = record.exposure.token;
    if (!settings.domain.empty()) view["domain"] = settings.domain;
    return view;
}

json::object listed_view(const core::SandboxRecord& record) {
    return {{"templateID", template_id(record)},
            {"alias", template_id(record)},
            {"sandboxID", record.id},
            {"clientID", kClientId},
            {"startedAt", to_rfc3339(record.started)},
            {"endAt", to_rfc3339(record.end_at)},
            {"cpuCount", cpu_count(record.limits)},
            {"memoryMB", record.limits.memory_bytes / kMiB},
            {"diskSizeMB", record.limits.disk_bytes / kMiB},
            {"metadata", metadata_view(record)},
            {"state", state_word(record.state)},
            {"envdVersion", kAgentLevel}};
}

json::object detail_view(const core::Sandbox& sandbox, const Settings& settings, bool with_token) {
    const core::SandboxRecord& record = sandbox.record();
    json::object view = listed_view(record);
    if (with_token && record.secure) view["envdAccessToken"] = record.access_token;
    if (!settings.domain.empty()) view["domain"] = settings.domain;
    view["allowInternetAccess"] = record.internet;
    if (json::object network = network_view(sandbox); !network.empty()) view["network"] = std::move(network);
    view["lifecycle"] = {{"autoResume", record.auto_resume},
                         {"onTimeout", record.on_timeout == core::OnTimeout::pause ? "pause" : "kill"}};
    // Ours: which wall stands around it.
    view["boundary"] = record.boundary;
    view["engine"] = record.engine;
    view["templateDigest"] = record.template_digest;
    if (record.resumed_from != core::ResumedFrom::nothing)
        view["resumedFrom"] = core::to_string(record.resumed_from);
    return view;
}

json::object metric_view(const core::SandboxRecord& record, const core::UsageSample& sample) {
    const core::BoxUsage& usage = sample.usage;
    const std::uint64_t total = usage.memory_limit != 0 ? usage.memory_limit : record.limits.memory_bytes;
    return {{"timestamp", to_rfc3339(sample.time)},
            {"timestampUnix", unix_millis(sample.time) / 1000},
            {"cpuCount", cpu_count(record.limits)},
            {"cpuUsedPct", std::round(sample.cpu_percent * 100) / 100},
            {"memUsed", usage.memory_now - std::min(usage.memory_now, usage.memory_cache)},
            {"memTotal", total},
            {"memCache", usage.memory_cache},
            {"diskUsed", usage.disk_used},
            {"diskTotal", usage.disk_limit != 0 ? usage.disk_limit : record.limits.disk_bytes}};
}

}  // namespace oyat::e2b
