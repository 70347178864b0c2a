#include <boost/json/array.hpp>

#include "api/native/body.hpp"
#include "api/native/call.hpp"
#include "api/native/sandbox_json.hpp"
#include "api/native/secret_json.hpp"
#include "base/throwing.hpp"

// The life of sandboxes.
namespace oyat::native {
namespace {

using core::Scope;

constexpr std::uint64_t kMaxBytes = 1ull << 50;
constexpr std::uint64_t kMaxCount = 1'000'000'000;
constexpr std::uint64_t kMaxTimeout = 30ull * 24 * 3600 * 1000;

core::Limits limits_of(Body& body) {
    core::Limits limits;
    limits.memory_bytes = body.number("memory_bytes", kMaxBytes).value_or(0);
    limits.cpu_millis = static_cast<std::uint32_t>(body.number("cpu_millis", kMaxCount).value_or(0));
    limits.processes = static_cast<std::uint32_t>(body.number("processes", kMaxCount).value_or(0));
    limits.disk_bytes = body.number("disk_bytes", kMaxBytes).value_or(0);
    limits.disk_inodes = body.number("disk_inodes", kMaxBytes).value_or(0);
    limits.io_bytes_per_second = body.number("io_bytes_per_second", kMaxBytes).value_or(0);
    limits.open_files = body.number("open_files", kMaxCount).value_or(0);
    body.done();
    return limits;
}

core::OnTimeout on_timeout_of(const std::string& word) {
    if (word == "kill") return core::OnTimeout::kill;
    if (word == "pause") return core::OnTimeout::pause;
    throw Error{Errc::invalid_argument, "on_timeout must be 'kill' or 'pause'"};
}

core::Keep keep_of(const std::string& word) {
    if (word == "memory") return core::Keep::memory;
    if (word == "disk") return core::Keep::disk;
    throw Error{Errc::invalid_argument, "what is kept is 'memory' or 'disk'"};
}

Task<> create(Call& call) {
    Body body = co_await Body::read(call.exchange);
    core::CreateRequest request;
    if (auto name = body.text("template")) request.template_ref = *std::move(name);
    if (const auto timeout = body.number("timeout_ms", kMaxTimeout)) request.timeout = Millis{*timeout};
    if (const auto word = body.text("on_timeout")) request.on_timeout = on_timeout_of(*word);
    request.metadata = body.map("metadata");
    request.env = body.map("env");
    if (auto limits = body.object("limits")) request.limits = limits_of(*limits);
    request.internet = body.flag("internet").value_or(true);
    if (const auto word = body.text("ports")) request.usual_reach = or_throw(core::parse_reach(*word));
    request.policy = body.json("policy");
    if (const auto word = body.text("pause_keeps")) request.pause_keeps = keep_of(*word);
    request.auto_resume = body.flag("auto_resume").value_or(false);
    request.isolation = body.text("isolation").value_or("");
    request.minimum_boundary = body.text("minimum_boundary").value_or("");
    request.secrets = plan_of(body);
    body.done();
    const std::shared_ptr<core::Sandbox> made =
        co_await call.services.sandboxes.create(std::move(request), call.who);
    co_await call.answer(201, sandbox_json(made->record()));
}

core::SandboxState state_of(std::string_view word) {
    using core::SandboxState;
    for (const SandboxState state : {SandboxState::creating, SandboxState::running, SandboxState::pausing,
                                     SandboxState::paused, SandboxState::resuming, SandboxState::ending}) {
        if (core::to_string(state) == word) return state;
    }
    throw Error{Errc::invalid_argument,
                "a living sandbox is creating, running, pausing, paused, resuming or ending"};
}

Task<> list(Call& call) {
    core::ListFilter filter{.tenant = call.who.tenant};
    for (const auto& [name, value] : call.query.all()) {
        if (name == "state") {
            filter.states.push_back(state_of(value));
        } else if (name == "template") {
            filter.template_ref = value;
        } else if (name.starts_with("metadata.")) {
            filter.metadata[name.substr(name.find('.') + 1)] = value;
        } else {
            throw Error{Errc::invalid_argument,
                        "unknown filter; there are state, template and metadata.NAME"};
        }
    }
    boost::json::array all;
    for (const auto& sandbox : call.services.sandboxes.list(filter))
        all.push_back(sandbox_json(sandbox->record()));
    co_await call.answer(200, boost::json::object{{"sandboxes", std::move(all)}});
}

// Of one that ended within the last day, too.
Task<> get(Call& call) {
    const std::string id = call.sandbox_id();
    if (const auto ended = call.services.sandboxes.ended(id, call.who.tenant)) {
        co_await call.answer(200, sandbox_json(*ended));
        co_return;
    }
    co_await call.answer(200, sandbox_json(call.sandbox()->record()));
}

Task<> kill(Call& call) {
    co_await call.services.sandboxes.kill(call.sandbox_id(), call.who, core::EndedBy::killed);
    co_await call.answer_empty();
}

Task<> set_timeout(Call& call) {
    Body body = co_await Body::read(call.exchange);
    const auto timeout = body.number("timeout_ms", kMaxTimeout);
    const bool extend_only = body.flag("extend_only").value_or(false);
    body.done();
    if (!timeout) throw Error{Errc::invalid_argument, "timeout_ms is missing"};
    co_await call.services.sandboxes.set_timeout(
        call.sandbox_id(), Millis{*timeout},
        extend_only ? core::TimeoutMode::extend_only : core::TimeoutMode::replace, call.who);
    co_await call.answer(200, sandbox_json(call.sandbox()->record()));
}

Task<> pause(Call& call) {
    Body body = co_await Body::read(call.exchange);
    const core::Keep what = keep_of(body.text("keep").value_or("memory"));
    body.done();
    co_await call.services.sandboxes.pause(call.sandbox_id(), what, call.who);
    co_await call.answer_empty();
}

Task<> resume(Call& call) {
    Body body = co_await Body::read(call.exchange);
    const auto timeout = body.number("timeout_ms", kMaxTimeout);
    const core::Keep from = keep_of(body.text("from").value_or("memory"));
    body.done();
    std::optional<Millis> given;
    if (timeout) given = Millis{*timeout};
    const bool was_paused =
        co_await call.services.sandboxes.connect(call.sandbox_id(), given, from, call.who);
    boost::json::object answer{{"was_paused", was_paused}};
    if (was_paused) answer["resumed_from"] = core::to_string(call.sandbox()->record().resumed_from);
    co_await call.answer(200, std::move(answer));
}

// What it uses now, and the samples of the last hour.
Task<> usage(Call& call) {
    const std::shared_ptr<core::Sandbox> sandbox = call.sandbox();
    const core::BoxUsage now = co_await sandbox->usage();
    boost::json::array samples;
    for (const core::UsageSample& sample :
         call.services.sandboxes.samples(sandbox->record().id, call.who.tenant)) {
        boost::json::object shown = usage_json(sample.usage);
        shown["time"] = to_rfc3339(sample.time);
        shown["cpu_percent"] = sample.cpu_percent;
        samples.push_back(std::move(shown));
    }
    co_await call.answer(200, boost::json::object{{"now", usage_json(now)}, {"samples", std::move(samples)}});
}

Task<> packages(Call& call) {
    const std::shared_ptr<core::Sandbox> sandbox = call.sandbox();
    co_await call.answer(200, packages_json(co_await sandbox->packages()));
}

constexpr Route kRoutes[] = {
    {"POST", "/v1/sandboxes", Scope::run, create},
    {"GET", "/v1/sandboxes", Scope::read, list},
    {"GET", "/v1/sandboxes/{id}", Scope::read, get},
    {"DELETE", "/v1/sandboxes/{id}", Scope::run, kill},
    {"POST", "/v1/sandboxes/{id}/timeout", Scope::run, set_timeout},
    {"POST", "/v1/sandboxes/{id}/pause", Scope::run, pause},
    {"POST", "/v1/sandboxes/{id}/resume", Scope::run, resume},
    {"GET", "/v1/sandboxes/{id}/usage", Scope::read, usage},
    {"GET", "/v1/sandboxes/{id}/packages", Scope::read, packages},
};

}  // namespace

std::span<const Route> sandbox_routes() {
    return kRoutes;
}

}  // namespace oyat::native
