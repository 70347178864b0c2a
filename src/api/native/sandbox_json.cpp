#include "api/native/sandbox_json.hpp"

#include <boost/json/array.hpp>
#include <boost/json/value.hpp>

#include "base/clock.hpp"
#include "core/json_text.hpp"
#include "core/limits_json.hpp"

namespace oyat::native {
namespace {

boost::json::value time_json(WallTime time) {
    if (time == WallTime{}) return nullptr;
    return boost::json::value(to_rfc3339(time));  // braces would make an array of it
}

boost::json::value text_or_null(std::string_view text) {
    if (text.empty()) return nullptr;
    return boost::json::value(core::json_text(text));
}

}  // namespace

boost::json::object snapshot_json(const core::SnapshotRecord& record) {
    return {{"id", record.id},
            {"name", record.name.empty() ? boost::json::value(nullptr)
                                         : boost::json::value(record.name + ":" + record.tag)},
            {"sandbox", record.sandbox},
            {"template", core::json_text(record.template_name)},
            {"template_digest", record.template_digest},
            {"engine", record.engine},
            {"memory", record.memory},
            {"limits", core::limits_json(record.limits)},
            {"disk_bytes", record.disk_bytes},
            {"memory_bytes", record.memory_bytes},
            {"stood_still_ms", record.stood_still.count()},
            {"created", time_json(record.created)},
            {"used", time_json(record.used)},
            {"expires", record.expires() ? time_json(record.expires_at()) : boost::json::value(nullptr)},
            {"key", record.key_id},
            {"client", core::json_text(record.client)},
            {"protocol", record.protocol}};
}

boost::json::object sandbox_json(const core::SandboxRecord& record) {
    boost::json::object phases;
    for (const core::Phase& phase : record.phases) phases[phase.name] = phase.micros;
    boost::json::object shown{{"id", record.id},
                              {"state", core::to_string(record.state)},
                              {"template", record.template_name},
                              {"template_digest", record.template_digest},
                              {"engine", record.engine},
                              {"boundary", record.boundary},
                              {"accelerator", text_or_null(record.accelerator)},
                              {"emulated", record.emulated},
                              {"kernel", record.kernel},
                              {"limits", core::limits_json(record.limits)},
                              {"disk_limit_by", record.disk_limit_by},
                              {"internet", record.internet},
                              {"policy_generation", record.policy_generation},
                              {"held", record.held},
                              {"egress_off", record.egress_off},
                              {"metadata", core::json_texts(record.metadata)},
                              {"env_names", core::json_names(record.env)},
                              {"created", time_json(record.created)},
                              {"started", time_json(record.started)},
                              {"end_at", time_json(record.end_at)},
                              {"timeout_ms", record.timeout.count()},
                              {"on_timeout", record.on_timeout == core::OnTimeout::pause ? "pause" : "kill"},
                              {"auto_resume", record.auto_resume},
                              {"phases_us", std::move(phases)},
                              {"key", record.key_id},
                              {"client", core::json_text(record.client)},
                              {"protocol", record.protocol},
                              {"event", record.created_event}};
    shown["pause_keeps"] = core::to_string(record.pause_keeps);
    shown["snapshot"] = text_or_null(record.snapshot);
    shown["parent"] = text_or_null(record.parent);
    shown["resumed_from"] = text_or_null(core::to_string(record.resumed_from));
    if (record.state == core::SandboxState::paused) {
        shown["stored"] = record.stored;
        shown["resumes_from"] = !record.stored || record.has_memory ? "memory" : "disk";
    }
    if (record.state == core::SandboxState::ended) {
        shown["ended_by"] = core::to_string(record.ended_by);
        shown["ended_detail"] = core::json_text(record.ended_detail);
        shown["ended_at"] = time_json(record.ended_at);
    }
    return shown;
}

boost::json::object usage_json(const core::BoxUsage& usage) {
    return {{"memory_now", usage.memory_now},
            {"memory_peak", usage.memory_peak},
            {"memory_cache", usage.memory_cache},
            {"memory_limit", usage.memory_limit},
            {"cpu_us", usage.cpu_us},
            {"throttled_us", usage.throttled_us},
            {"processes", usage.processes},
            {"processes_denied", usage.processes_denied},
            {"oom_kills", usage.oom_kills},
            {"disk_used", usage.disk_used},
            {"disk_limit", usage.disk_limit},
            {"inodes_used", usage.inodes_used},
            {"inodes_limit", usage.inodes_limit}};
}

boost::json::object packages_json(const core::SandboxPackages& found) {
    boost::json::array all;
    for (const core::InstalledPackage& each : found.packages) {
        all.push_back({{"ecosystem", to_string(each.package.ecosystem)},
                       {"name", each.package.name},
                       {"version", each.package.version},
                       {"path", each.package.path},
                       {"seen", time_json(each.seen)},
                       {"commands", core::json_texts(each.commands)},
                       {"source", core::json_texts(each.sources)}});
    }
    return {{"packages", std::move(all)}, {"complete", found.complete}, {"odd", found.odd}};
}

boost::json::object template_json(const core::TemplateFacts& facts) {
    return {{"name", facts.name},
            {"digest", facts.digest},
            {"bytes", facts.bytes},
            {"files", facts.files},
            {"created", time_json(facts.created)}};
}

}  // namespace oyat::native
