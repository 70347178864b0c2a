#include <algorithm>
#include <boost/json/array.hpp>
#include <optional>
#include <utility>

#include "base/defer.hpp"
#include "base/id.hpp"
#include "base/throwing.hpp"
#include "core/json_text.hpp"
#include "core/limits_json.hpp"
#include "core/record_fields.hpp"
#include "core/registry.hpp"
#include "core/sandbox_secrets.hpp"
#include "io/race.hpp"

// How a sandbox comes into being: admission, template, box, network, record, agent; and back in reverse when
// a step fails.
namespace oyat::core {
namespace {

constexpr std::string_view kOffline = R"({"preset":"offline"})";
constexpr std::size_t kMaxMetadata = 64u << 10;
constexpr std::size_t kMaxEnvironment = 192u
                                        << 10;  // goes to the agent in one frame, with the operator's own

std::size_t size_of(const std::map<std::string, std::string>& all) {
    std::size_t bytes = 0;
    for (const auto& [name, value] : all) bytes += name.size() + value.size() + 2;
    return bytes;
}

Limits with_defaults(Limits wanted, const Limits& defaults) {
    const auto fill = [](auto& value, auto otherwise) {
        if (value == 0) value = otherwise;
    };
    fill(wanted.memory_bytes, defaults.memory_bytes);
    fill(wanted.cpu_millis, defaults.cpu_millis);
    fill(wanted.processes, defaults.processes);
    fill(wanted.disk_bytes, defaults.disk_bytes);
    fill(wanted.disk_inodes, defaults.disk_inodes);
    fill(wanted.io_bytes_per_second, defaults.io_bytes_per_second);
    fill(wanted.open_files, defaults.open_files);
    return wanted;
}

// What the box is made for; its own log exists only with it, so this stands in the server's.
Event requested_event(const CreateRequest& request, const Principal& who) {
    Event event{.type = "sandbox.requested", .tenant = who.tenant};
    event.fields["template"] = json_text(request.template_ref);
    event.fields["isolation"] = json_text(request.isolation);
    boost::json::object asked;  // zero: nobody named it, and it would read like a limit of nothing
    for (const auto& [name, value] : limits_json(request.limits)) {
        if (value != 0u) asked[name] = value;
    }
    event.fields["limits"] = std::move(asked);
    event.fields["timeout_ms"] = request.timeout.count();
    event.fields["internet"] = request.internet;
    add_who(event, who);
    return event;
}

boost::json::object phases_json(const std::vector<Phase>& phases) {
    boost::json::object all;
    for (const Phase& each : phases) all[json_text(each.name)] = each.micros;
    return all;
}

boost::json::array layers_json(const policy::Policy& policy) {
    boost::json::array all;
    for (const policy::LayerDocument& each : policy.layers)
        all.push_back({{"layer", to_string(each.layer)}, {"digest", digest_of(each.document)}});
    return all;
}

}  // namespace

void Registry::check(const CreateRequest& request, const std::string& tenant) const {
    const auto wrong = [](std::string what) { return Error{Errc::invalid_argument, std::move(what)}; };
    if (request.timeout <= Millis{0}) throw wrong("a sandbox's timeout must be positive");
    if (request.timeout > deps_.config.max_life) {
        throw wrong(
            "timeout above the maximum of " +
            std::to_string(std::chrono::duration_cast<std::chrono::seconds>(deps_.config.max_life).count()) +
            " s");
    }
    if (size_of(request.metadata) > kMaxMetadata) throw wrong("metadata of more than 64 KiB");
    if (size_of(request.env) > kMaxEnvironment) throw wrong("environment of more than 192 KiB");
    for (const auto& [name, value] : request.env) {
        if (name.empty() || name.find_first_of(std::string_view{"=\0", 2}) != std::string::npos ||
            value.find('\0') != std::string::npos) {
            throw wrong("names of variables must not be empty or hold '=', and nothing may hold a NUL byte");
        }
    }
    if (!request.minimum_boundary.empty() && strength(request.minimum_boundary) == 0) {
        throw wrong("minimum_boundary is shared-kernel, userspace-kernel or own-kernel");
    }
    if (request.policy && !request.internet)
        throw wrong("either a policy or no internet; a policy says it all");
    if (request.template_ref.size() > 200) throw wrong("name of a template of more than 200 bytes");
    check_secrets(deps_.secrets, tenant, request.secrets);
    SandboxRecord trial;
    keep_proxy(deps_.secrets, trial, request.via);
}

Task<std::shared_ptr<Sandbox>> Registry::create(CreateRequest request, Principal who) {
    co_return co_await create_of(std::move(request), std::nullopt, std::move(who));
}

Task<Registry::Live> Registry::create_of(CreateRequest request, std::optional<Origin> origin, Principal who) {
    std::optional<Error> failed;
    try {
        co_return co_await make(request, std::move(origin), who);
    } catch (const Error& e) {
        // Nobody waits for it any more, or its failure is in its own record.
        if (e.code() == Errc::canceled || !e.event().empty()) throw;
        failed = e;
    }
    Event event{.type = "sandbox.refused", .tenant = who.tenant};
    event.fields["template"] = json_text(request.template_ref);
    add_who(event, who);
    add_failure(event, *failed);
    throw Error{*failed}.recorded_as(emit_or_log(deps_.events, std::move(event)));
}

Task<Registry::Live> Registry::make(CreateRequest request, std::optional<Origin> given, Principal who) {
    check(request, who.tenant);
    policy::DocumentPtr own = request.policy ? or_throw(deps_.policies.read(*request.policy)) : nullptr;
    admission_.enter(who.tenant, who.key_id);
    Defer leave{[&] { admission_.leave(who.tenant); }};
    const Origin origin = given ? *std::move(given) : co_await origin_of(request, who);
    if (!own && request.internet && !origin.policy.empty()) own = deps_.policies.read_kept(origin.policy);
    std::string asked = request.isolation.empty() ? deps_.config.default_engine : request.isolation;
    if (!request.minimum_boundary.empty()) asked = "auto";
    if (!engines_.known() || !engines_.may_do(asked)) co_await engines_.refresh();
    const std::string engine = engine_for(request, origin);

    const std::string requested = deps_.events.emit(requested_event(request, who));
    const std::string tag = random_hex(16);
    making_.insert(tag);
    const Defer made{[&] { making_.erase(tag); }};
    NewBox box = co_await deps_.keeper.create(
        {.template_digest = origin.template_digest,
         .engine = engine,
         .limits = with_defaults(with_defaults(request.limits, origin.limits), deps_.config.default_limits),
         .owner_tag = tag,
         .from_snapshot = origin.snapshot});
    const auto sandbox = std::make_shared<LiveSandbox>(deps_, admission_, texts_,
                                                       record_of(request, origin, own, who, box.facts));
    sandbox->on_lost(rescuer_of(sandbox));

    std::optional<Error> failed;
    try {
        if (!request.secrets.empty()) co_await sandbox->take_secrets(request.secrets, who);
        sandbox->set_egress(false, brakes_.egress_off);
        if (origin.memory) sandbox->note_saved();
        co_await bring_up(sandbox, std::move(box), origin.memory, requested);
        if (stopped_keys_.contains(who.key_id)) {
            throw Error{Errc::denied, Fault::oyat_operator, "the operator has stopped this key"};
        }
    } catch (const Error& e) {
        failed = e;
    }
    if (failed) {
        co_await shielded(sandbox->undo_create());
        Event event = sandbox_event(sandbox->record(), "sandbox.failed", Witness::host);
        add_failure(event, *failed);
        throw Error{*failed}.recorded_as(emit_or_log(deps_.events, std::move(event)));
    }
    leave.dismiss();
    live_.emplace(sandbox->record().id, sandbox);
    // A change of the documents above meanwhile did not find it among the living.
    if (sandbox->policy_is_stale()) {
        sandbox->renew_policy();
        co_await sandbox->save();
        co_await sandbox->follow_policy();
    }
    // A brake may have been pulled meanwhile.
    sandbox->note_egress(false, brakes_.egress_off);
    if (brakes_.stopped) tasks_.spawn(heed_quietly());
    keep_time(*sandbox);
    if (!origin.snapshot.empty()) co_await use_snapshot(origin.snapshot, sandbox->record());
    co_return sandbox;
}

SandboxRecord Registry::record_of(const CreateRequest& request, const Origin& origin,
                                  const policy::DocumentPtr& own, const Principal& who,
                                  const BoxFacts& facts) const {
    SandboxRecord record;
    record.id = facts.id;
    record.tenant = who.tenant;
    record.template_name = origin.template_name;
    record.snapshot = origin.snapshot;
    record.parent = origin.parent;
    record.template_digest = facts.template_digest;
    record.engine = facts.engine;
    record.boundary = facts.boundary;
    if (const EngineFacts* engine = engines_.find(facts.engine)) {
        record.accelerator = engine->accelerator;
        record.emulated = engine->emulated;
    }
    record.kernel = facts.kernel;
    record.disk_limit_by = facts.disk_limit_by;
    record.generation = facts.generation;
    record.limits = facts.limits;
    record.limits.open_files = with_defaults(request.limits, deps_.config.default_limits).open_files;
    record.metadata = request.metadata;
    record.env = request.env;
    record.internet = request.internet;
    if (own) record.policy = own->source;
    if (!request.internet) record.policy = kOffline;
    record.internet = record.policy != kOffline;
    keep_proxy(deps_.secrets, record, request.via);
    record.on_timeout = request.on_timeout;
    record.pause_keeps = request.pause_keeps;
    record.auto_resume = request.auto_resume;
    record.secure = request.secure;
    record.access_token = random_hex(32);
    record.exposure.usual = request.usual_reach;
    record.exposure.host_mask = request.host_mask;
    record.exposure.tls_ports = request.tls_ports;
    record.exposure.token = random_hex(32);
    record.created = record.started = deps_.clock.wall();
    record.timeout = request.timeout;
    record.key_id = who.key_id;
    record.client = who.client;
    record.protocol = who.protocol;
    return record;
}

// The sandbox's own log is opened and tells of it before anybody can use it; meanwhile its agent is made
// ready.
Task<> Registry::bring_up(Live sandbox, NewBox box, bool saved, std::string requested) {
    const MonoTime since = deps_.clock.mono();
    std::vector<Phase> phases = std::move(box.phases);
    sandbox->set_phases(phases);
    sandbox->set_life(sandbox->record().timeout, TimeoutMode::replace);
    sandbox->take_handles(std::move(box.handles));

    std::exception_ptr failed;
    TaskGroup steps{deps_.executor, [&failed](std::exception_ptr why) {
                        if (!failed) failed = std::move(why);
                    }};
    steps.spawn(open_record(sandbox, std::move(requested)));
    steps.spawn(sandbox->greet(saved ? LiveSandbox::Agent::known : LiveSandbox::Agent::new_born));
    try {
        co_await steps.wait_idle();
    } catch (const Error&) {
        failed = std::current_exception();
    }
    co_await steps.close();
    if (failed) std::rethrow_exception(failed);

    sandbox->begin(SandboxState::running);
    phases.push_back(
        {.name = "ready",
         .micros = static_cast<std::uint64_t>(
             std::chrono::duration_cast<std::chrono::microseconds>(deps_.clock.mono() - since).count())});
    Event event = sandbox_event(sandbox->record(), "sandbox.started", Witness::host);
    event.fields["phases"] = phases_json(phases);
    deps_.events.emit(std::move(event));
    sandbox->set_phases(std::move(phases));
}

Task<> Registry::open_record(Live sandbox, std::string requested) {
    const SandboxRecord& record = sandbox->record();
    co_await deps_.events.prepare(record.id);
    Event event = sandbox_event(record, "sandbox.created", Witness::host);
    event.fields["requested"] = requested;  // stands in the server's log, where no id of ours is known yet
    event.fields["template"] = json_text(record.template_name);
    event.fields["template_digest"] = record.template_digest;
    if (!record.snapshot.empty()) event.fields["snapshot"] = record.snapshot;
    if (!record.parent.empty()) event.fields["parent"] = record.parent;
    event.fields["generation"] = record.generation;
    event.fields["engine"] = record.engine;
    event.fields["boundary"] = record.boundary;
    event.fields["kernel"] = json_text(record.kernel);
    event.fields["limits"] = limits_json(record.limits);
    event.fields["disk_limit_by"] = record.disk_limit_by;
    event.fields["internet"] = record.internet;
    event.fields["policy"] = layers_json(*sandbox->policy());
    event.fields["timeout_ms"] = record.timeout.count();
    event.fields["on_timeout"] = record.on_timeout == OnTimeout::pause ? "pause" : "kill";
    event.fields["env_names"] = json_names(record.env);
    event.fields["metadata"] = json_texts(record.metadata);
    event.fields["key"] = json_text(record.key_id);
    event.fields["client"] = json_text(record.client);
    event.fields["protocol"] = json_text(record.protocol);
    sandbox->set_created_event(deps_.events.emit(std::move(event)));
    co_await sandbox->save();
}

}  // namespace oyat::core
