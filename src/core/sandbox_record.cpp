#include "core/sandbox_record.hpp"

#include <array>
#include <boost/json/array.hpp>
#include <utility>

#include "base/id.hpp"
#include "core/json_text.hpp"
#include "core/limits_json.hpp"
#include "core/record_reader.hpp"

namespace oyat::core {
namespace {

namespace json = boost::json;

constexpr std::array<std::string_view, 7> kStates{"creating", "running", "pausing", "paused",
                                                  "resuming", "ending",  "ended"};
constexpr std::array<std::string_view, 11> kReasons{
    "", "timeout", "idle", "killed", "oom", "crash", "limit", "policy", "server", "operator", "signal"};
constexpr std::array<std::string_view, 2> kOnTimeout{"kill", "pause"};
constexpr std::array<std::string_view, 2> kKeeps{"memory", "disk"};
constexpr std::array<std::string_view, 3> kResumedFrom{"", "memory", "disk"};

json::value via_json(const std::optional<policy::Via>& via) {
    if (!via) return nullptr;
    return {{"kind", via->kind == policy::Via::Kind::http ? "http" : "socks5"},
            {"host", via->host},
            {"port", via->port},
            {"user", json_text(via->user)}};
}

std::string read_via(const json::object& from, policy::Via& via) {
    RecordReader read{from};
    read.word("kind", via.kind, std::array<std::string_view, 2>{"socks5", "http"});
    read.text("host", via.host);
    read.number("port", via.port);
    read.text("user", via.user);
    return read.problem();
}

std::string read_phases(const json::array& from, std::vector<Phase>& phases) {
    for (const json::value& each : from) {
        if (!each.is_object()) return "bad phase";
        Phase phase;
        RecordReader read{each.get_object()};
        read.text("name", phase.name);
        read.number("micros", phase.micros);
        if (!read.problem().empty()) return read.problem();
        phases.push_back(std::move(phase));
    }
    return {};
}

}  // namespace

std::string_view to_string(SandboxState state) noexcept {
    return kStates[static_cast<std::size_t>(state)];
}

std::string_view to_string(Keep what) noexcept {
    return kKeeps[static_cast<std::size_t>(what)];
}

std::string_view to_string(ResumedFrom what) noexcept {
    return kResumedFrom[static_cast<std::size_t>(what)];
}

std::string_view to_string(EndedBy reason) noexcept {
    return kReasons[static_cast<std::size_t>(reason)];
}

json::object to_json(const SandboxRecord& record) {
    json::array phases;
    for (const Phase& each : record.phases) {
        phases.push_back({{"name", json_text(each.name)}, {"micros", each.micros}});
    }
    return {{"id", record.id},
            {"tenant", record.tenant},
            {"template_name", json_text(record.template_name)},
            {"template_digest", record.template_digest},
            {"engine", record.engine},
            {"boundary", record.boundary},
            {"accelerator", record.accelerator},
            {"emulated", record.emulated},
            {"kernel", json_text(record.kernel)},
            {"disk_limit_by", record.disk_limit_by},
            {"generation", record.generation},
            {"limits", limits_json(record.limits)},
            {"metadata", json_texts(record.metadata)},
            {"env", json_texts(record.env)},
            {"internet", record.internet},
            {"policy", json_text(record.policy)},
            {"policy_generation", record.policy_generation},
            {"installing", record.installing},
            {"via", via_json(record.via)},
            {"via_password", record.via_password},
            {"on_timeout", kOnTimeout[static_cast<std::size_t>(record.on_timeout)]},
            {"pause_keeps", to_string(record.pause_keeps)},
            {"resumed_from", to_string(record.resumed_from)},
            {"snapshot", record.snapshot},
            {"parent", record.parent},
            {"auto_resume", record.auto_resume},
            {"secure", record.secure},
            {"access_token", record.access_token},
            {"exposure", to_json(record.exposure)},
            {"created", unix_millis(record.created)},
            {"started", unix_millis(record.started)},
            {"end_at", unix_millis(record.end_at)},
            {"timeout", record.timeout.count()},
            {"state", to_string(record.state)},
            {"ended_by", to_string(record.ended_by)},
            {"ended_detail", json_text(record.ended_detail)},
            {"ended_at", unix_millis(record.ended_at)},
            {"key_id", record.key_id},
            {"client", json_text(record.client)},
            {"protocol", record.protocol},
            {"phases", std::move(phases)},
            {"created_event", record.created_event}};
}

Result<SandboxRecord> sandbox_record_from_json(const json::object& from) {
    SandboxRecord record;
    RecordReader read{from};
    std::int64_t timeout = 0;
    std::string inner;
    read.text("id", record.id);
    read.text("tenant", record.tenant);
    read.text("template_name", record.template_name);
    read.text("template_digest", record.template_digest);
    read.text("engine", record.engine);
    read.text("boundary", record.boundary);
    read.text("accelerator", record.accelerator);
    read.flag("emulated", record.emulated);
    read.text("kernel", record.kernel);
    read.text("disk_limit_by", record.disk_limit_by);
    read.number("generation", record.generation);
    read.limits("limits", record.limits);
    read.texts("metadata", record.metadata);
    read.texts("env", record.env);
    read.flag("internet", record.internet);
    read.text("policy", record.policy);
    read.number("policy_generation", record.policy_generation);
    if (const json::value* via = from.if_contains("via"); via != nullptr && via->is_object() && inner.empty())
        inner = read_via(via->get_object(), record.via.emplace());
    read.flag("installing", record.installing);
    read.text("via_password", record.via_password);
    read.word("on_timeout", record.on_timeout, kOnTimeout);
    read.word("pause_keeps", record.pause_keeps, kKeeps);
    read.word("resumed_from", record.resumed_from, kResumedFrom);
    read.text("snapshot", record.snapshot);
    read.text("parent", record.parent);
    read.flag("auto_resume", record.auto_resume);
    read.flag("secure", record.secure);
    read.text("access_token", record.access_token);
    if (const json::object* exposure = read.object("exposure")) {
        Result<Exposure> shown = exposure_from_json(*exposure);
        if (!shown) return std::unexpected{std::move(shown).error()};
        record.exposure = *std::move(shown);
    }
    read.time("created", record.created);
    read.time("started", record.started);
    read.time("end_at", record.end_at);
    read.number("timeout", timeout);
    read.word("state", record.state, kStates);
    read.word("ended_by", record.ended_by, kReasons);
    read.text("ended_detail", record.ended_detail);
    read.time("ended_at", record.ended_at);
    read.text("key_id", record.key_id);
    read.text("client", record.client);
    read.text("protocol", record.protocol);
    if (const json::array* phases = read.array("phases"); phases != nullptr && inner.empty()) {
        inner = read_phases(*phases, record.phases);
    }
    read.text("created_event", record.created_event);
    record.timeout = Millis{timeout};
    // Written before there were documents.
    if (!record.internet && record.policy.empty()) record.policy = R"({"preset":"offline"})";
    if (!is_sandbox_id(record.id)) read.wrong("id");
    if (!read.problem().empty()) return refuse(Errc::invalid_argument, "sandbox record: " + read.problem());
    if (!inner.empty()) return refuse(Errc::invalid_argument, "sandbox record: " + inner);
    return record;
}

}  // namespace oyat::core
