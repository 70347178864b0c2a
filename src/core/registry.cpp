#include "core/registry.hpp"

#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "core/lifecycle.hpp"
#include "core/record_fields.hpp"
#include "io/race.hpp"

namespace oyat::core {
namespace {

// Text of running commands' outputs that is kept for the record at any moment.
constexpr std::size_t kTexts = 256u << 20;
constexpr Millis kPauseAgain{5000};  // after one at a sandbox's time that the keeper could not do

Error not_found(const std::string& id) {
    return Error{Errc::not_found, Fault::client, "sandbox " + id + " not found"};
}

bool holds(const std::map<std::string, std::string>& all, const std::map<std::string, std::string>& wanted) {
    return std::ranges::all_of(wanted, [&](const auto& each) {
        const auto found = all.find(each.first);
        return found != all.end() && found->second == each.second;
    });
}

}  // namespace

std::unique_ptr<SandboxService> make_sandboxes(SandboxesDeps deps) {
    return std::make_unique<Registry>(std::move(deps));
}

Registry::Registry(SandboxesDeps deps)
    : deps_{std::move(deps)},
      admission_{deps_.config, deps_.clock},
      engines_{deps_.keeper},
      snapshots_{deps_.store, deps_.config.snapshots},
      texts_{kTexts},
      timer_{deps_.executor, [this] { expire_due(); }},
      tasks_{deps_.executor} {
    deps_.keeper.on_notice([this](KeeperNotice notice) { heard(std::move(notice)); });
    watch_events();
}

Registry::~Registry() {
    deps_.keeper.on_notice({});
}

// --- finding ----------------------------------------------------------------------------------------------

Registry::Live Registry::live(const std::string& id, const std::string& tenant) const {
    const auto found = live_.find(id);
    // A foreign id reads like an unknown one.
    if (found == live_.end() || found->second->record().tenant != tenant) throw not_found(id);
    return found->second;
}

std::shared_ptr<Sandbox> Registry::find(const std::string& id, const std::string& tenant) const {
    return live(id, tenant);
}

std::shared_ptr<Sandbox> Registry::find_any(const std::string& id) const {
    const auto found = live_.find(id);
    return found == live_.end() ? nullptr : found->second;
}

std::vector<std::shared_ptr<Sandbox>> Registry::every() const {
    std::vector<std::shared_ptr<Sandbox>> all;
    for (const auto& [id, sandbox] : live_) all.push_back(sandbox);
    return all;
}

std::vector<std::shared_ptr<Sandbox>> Registry::list(const ListFilter& filter) const {
    std::vector<std::shared_ptr<Sandbox>> all;
    for (const auto& [id, sandbox] : live_) {
        const SandboxRecord& record = sandbox->record();
        if (record.tenant != filter.tenant) continue;
        if (!filter.states.empty() && std::ranges::find(filter.states, record.state) == filter.states.end())
            continue;
        if (!filter.template_ref.empty() && record.template_name != filter.template_ref &&
            record.template_digest != filter.template_ref) {
            continue;
        }
        if (holds(record.metadata, filter.metadata)) all.push_back(sandbox);
    }
    return all;
}

std::optional<SandboxRecord> Registry::ended(const std::string& id, const std::string& tenant) const {
    const SandboxRecord* found = ended_.find(id);
    if (found == nullptr || found->tenant != tenant) return std::nullopt;
    return *found;
}

std::vector<UsageSample> Registry::samples(const std::string& id, const std::string& tenant) const {
    return live(id, tenant)->samples();
}

// --- changing ---------------------------------------------------------------------------------------------

Task<> Registry::kill(std::string id, Principal who, EndedBy reason) {
    const Live sandbox = live(id, who.tenant);
    sandbox->require_no_hold();  // what it holds is the operator's to look at
    const bool ended_here = co_await end(sandbox, {.reason = reason, .detail = {}, .who = who});
    if (!ended_here) throw not_found(id);
}

// Awaited to its end, whoever asked for it: a sandbox half ended would be nobody's.
Task<bool> Registry::end(Live sandbox, Ending ending) {
    bool ended_here = false;
    const auto whole = [](Live what, Ending how, bool& here) -> Task<> {
        here = co_await what->end(std::move(how));
    };
    co_await shielded(whole(sandbox, std::move(ending), ended_here));
    if (live_.erase(sandbox->record().id) != 0) {
        deadlines_.drop(sandbox->record().id);
        admission_.leave(sandbox->record().tenant);
        ended_.add(sandbox->record());
    }
    co_return ended_here;
}

Task<> Registry::end_quietly(Live sandbox, Ending ending) {
    try {
        co_await end(sandbox, std::move(ending));
    } catch (const Error& e) {
        if (e.code() == Errc::canceled) throw;
        // It stays `ending` and is ended for good once the keeper is back.
        log::warn("sandbox not ended yet", {{"sandbox", sandbox->record().id}, {"error", e.message()}});
    }
}

Task<> Registry::set_timeout(std::string id, Millis timeout, TimeoutMode mode, Principal who) {
    const Live sandbox = live(id, who.tenant);
    co_await sandbox->settle();
    if (sandbox->record().state != SandboxState::running) {
        throw Error{
            Errc::failed_precondition, Fault::client,
            "sandbox " + id + " is " + std::string{to_string(sandbox->record().state)} + ", not running"};
    }
    if (timeout < Millis{0}) throw Error{Errc::invalid_argument, "a timeout must not be negative"};
    Event event = sandbox_event(sandbox->record(), "sandbox.modified");
    event.fields["timeout_ms"] = timeout.count();
    event.fields["extend_only"] = mode == TimeoutMode::extend_only;
    add_who(event, who);
    deps_.events.emit(std::move(event));
    sandbox->set_life(timeout, mode);
    keep_time(*sandbox);
    co_await sandbox->save();
}

Task<> Registry::expose(std::string id, std::uint16_t port, Reach reach, Principal who) {
    const Live sandbox = live(id, who.tenant);
    const Exposure& exposure = sandbox->record().exposure;
    if (!exposure.ports.contains(port) && exposure.ports.size() >= Exposure::kMostPorts) {
        throw Error{Errc::exhausted, Fault::limit,
                    "a sandbox has at most " + std::to_string(Exposure::kMostPorts) +
                        " ports with a word of their own"};
    }
    if (reach > exposure.most) {
        throw Error{Errc::denied, Fault::oyat_operator,
                    "the operator opens no port wider than " + std::string{to_string(exposure.most)}};
    }
    Event event = sandbox_event(sandbox->record(), "ingress.opened");
    event.fields["port"] = port;
    event.fields["who"] = to_string(reach);
    add_who(event, who);
    deps_.events.emit(std::move(event));
    sandbox->expose(port, reach);
    co_await sandbox->save();
}

Pause Registry::pause_of(const SandboxRecord& record, Keep what) const {
    return {.keeps = what, .on_disk = engines_.can(record.engine, "memory_snapshot")};
}

Task<> Registry::pause(std::string id, Keep what, Principal who) {
    const Live sandbox = live(id, who.tenant);
    co_await shielded(sandbox->pause(pause_of(sandbox->record(), what), who));
    if (sandbox->record().state == SandboxState::paused) deadlines_.drop(id);
}

Task<bool> Registry::connect(std::string id, std::optional<Millis> timeout, Keep from, Principal who) {
    const Live sandbox = live(id, who.tenant);
    std::optional<bool> resumed;
    co_await shielded(store_in(resumed, sandbox->resume(timeout, from, who)));
    if (*resumed) {
        keep_time(*sandbox);
    } else if (timeout) {
        co_await set_timeout(std::move(id), *timeout, TimeoutMode::extend_only, std::move(who));
    }
    co_return *resumed;
}

Task<> Registry::bind_secrets(std::string id, SecretPlan plan, Principal who) {
    co_await live(id, who.tenant)->bind_secrets(std::move(plan), who);
}

Task<> Registry::unbind_secret(std::string id, std::string binding, Principal who) {
    co_await live(id, who.tenant)->unbind_secret(std::move(binding), who);
}

Task<> Registry::end_all(EndedBy reason) {
    TaskGroup ends{deps_.executor};
    for (const auto& [id, sandbox] : live_) ends.spawn(end_quietly(sandbox, {.reason = reason}));
    co_await ends.wait_idle();
}

Task<> Registry::close() {
    timer_.disarm();
    deps_.keeper.on_notice({});
    co_await tasks_.close();
    for (const auto& [id, sandbox] : std::exchange(live_, {})) co_await sandbox->close();
}

// --- time -------------------------------------------------------------------------------------------------

void Registry::keep_time(const LiveSandbox& sandbox) {
    deadlines_.set(sandbox.record().id, sandbox.deadline());
    arm();
}

void Registry::arm() {
    if (const auto next = deadlines_.next()) {
        timer_.arm(
            std::max(std::chrono::nanoseconds{0}, std::chrono::nanoseconds{*next - deps_.clock.mono()}));
    }
}

void Registry::expire_due() {
    for (const std::string& id : deadlines_.take_due(deps_.clock.mono())) {
        if (const auto found = live_.find(id); found != live_.end()) tasks_.spawn(expire(found->second));
    }
    arm();
}

Task<> Registry::expire(Live sandbox) {
    co_await sandbox->settle();
    if (sandbox->record().held) co_return;
    // Extended in the last moment.
    if (sandbox->deadline() > deps_.clock.mono()) {
        keep_time(*sandbox);
        co_return;
    }
    if (sandbox->record().state == SandboxState::paused) co_return;
    if (sandbox->record().on_timeout == OnTimeout::pause &&
        sandbox->record().state == SandboxState::running) {
        std::optional<Error> failed;
        try {
            const SandboxRecord& record = sandbox->record();
            co_await shielded(sandbox->pause(pause_of(record, record.pause_keeps), std::nullopt));
            co_return;
        } catch (const Error& e) {
            if (e.code() == Errc::canceled) throw;
            failed = e;
        }
        co_await sandbox->settle();
        if (sandbox->record().state == SandboxState::paused) co_return;  // somebody else's pause was first
        log::warn("sandbox not paused at its time",
                  {{"sandbox", sandbox->record().id}, {"error", failed->message()}});
        // A pause is to keep what is there: a keeper that is away is no reason to throw it away.
        if (failed->code() == Errc::unavailable && sandbox->record().state == SandboxState::running) {
            deadlines_.set(sandbox->record().id, deps_.clock.mono() + kPauseAgain);
            arm();
            co_return;
        }
    }
    co_await end_quietly(sandbox, {.reason = EndedBy::timeout, .detail = "its time was up"});
}

}  // namespace oyat::core
