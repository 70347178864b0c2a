#include "core/live_sandbox.hpp"

#include <algorithm>
#include <utility>

#include "base/assert.hpp"
#include "base/defer.hpp"
#include "base/id.hpp"
#include "base/log.hpp"
#include "core/json_text.hpp"
#include "core/lifecycle.hpp"
#include "core/record_fields.hpp"
#include "core/secret_variables.hpp"
#include "core/trusted_authority.hpp"

namespace oyat::core {
namespace {

Fault fault_of(EndedBy reason) {
    switch (reason) {
        case EndedBy::oom:
        case EndedBy::limit: return Fault::limit;
        case EndedBy::policy:
        case EndedBy::signal: return Fault::policy;
        case EndedBy::oyat_operator: return Fault::oyat_operator;
        case EndedBy::crash: return Fault::agent;
        default: return Fault::engine;
    }
}

bool is_failure(EndedBy reason) {
    using enum EndedBy;
    return reason == oom || reason == limit || reason == policy || reason == crash || reason == server ||
           reason == oyat_operator || reason == signal;
}

}  // namespace

LiveSandbox::LiveSandbox(const SandboxesDeps& deps, Admission& admission, TextBudget& texts,
                         SandboxRecord record)
    : deps_{deps},
      record_{std::move(record)},
      own_policy_{record_.policy.empty() ? nullptr : deps.policies.read_kept(record_.policy)},
      policy_{compose_policy()},
      policy_of_{deps.policies.revision()},
      run_since_{deps.clock.mono()},
      limits_{record_, deps.clock, deps.events},
      suspicion_{deps.config.signals},
      processes_{deps.executor,
                 CommandSurroundings{.record = record_,
                                     .clock = deps.clock,
                                     .events = deps.events,
                                     .masks = deps.masks,
                                     .keeper = deps.keeper,
                                     .limits = limits_,
                                     .suspicion = suspicion_,
                                     .door = door_,
                                     .texts = texts,
                                     .executor = deps.executor,
                                     .installs = *this,
                                     .secrets = deps.secrets},
                 deps.config, admission},
      files_{record_, deps.events, deps.masks, limits_, door_} {
    record_.exposure.most = deps.config.preview_most;
    std::vector<masking::Value> secrets = secrets_in(environment());
    secrets.push_back({.name = "sandbox-token", .value = record_.access_token});
    deps.masks.learn(record_.id, std::move(secrets));
}

LiveSandbox::~LiveSandbox() {
    door_->shut("the sandbox is gone");
    if (agent_) agent_->on_lost({});
}

// --- calls of clients -------------------------------------------------------------------------------------

void LiveSandbox::require_running() const {
    if (record_.state == SandboxState::running) return;
    require_no_hold();
    throw Error{Errc::failed_precondition, Fault::client,
                "sandbox " + record_.id + " is " + std::string{to_string(record_.state)} + ", not running"};
}

Processes& LiveSandbox::processes() {
    require_running();
    return processes_;
}

Files& LiveSandbox::files() {
    require_running();
    return files_;
}

std::map<std::string, std::string> LiveSandbox::environment() const {
    std::map<std::string, std::string> all = record_.env;
    all.insert(deps_.config.operator_env.begin(), deps_.config.operator_env.end());  // does not replace
    if (!trusted_list_.empty()) all.merge(authority_environment(trusted_list_));
    return all;
}

Task<> LiveSandbox::until_not_running() {
    const auto self = shared_from_this();
    while (record_.state == SandboxState::running) co_await changed_.wait();
}

Task<Fd> LiveSandbox::dial(std::uint16_t port) {
    require_running();
    co_return co_await deps_.keeper.dial(record_.id, port);
}

Task<BoxUsage> LiveSandbox::usage() {
    std::vector<BoxUsage> all = co_await deps_.keeper.usage({record_.id});
    if (all.size() != 1) throw Error{Errc::not_found, "sandbox " + record_.id + " not found"};
    co_return std::move(all.front());
}

// --- the agent --------------------------------------------------------------------------------------------

void LiveSandbox::take_handles(BoxHandles handles) {
    policy_ = compose_policy();
    suspend_secrets();
    deps_.egress.attach(record_.id, record_.tenant,
                        {.tcp = std::move(handles.tcp),
                         .dns_udp = std::move(handles.dns_udp),
                         .dns_tcp = std::move(handles.dns_tcp)},
                        policy_);
    agent_ = deps_.connector.connect(std::move(handles.agent), record_.generation);
    agent_->on_lost(lost_);
    agent_->set_frozen(record_.state == SandboxState::paused);
}

Task<> LiveSandbox::greet(Agent its) {
    // It may be resumed while its agent is being joined again: one greeting serves both.
    while (greeting_) co_await changed_.wait();
    const std::shared_ptr<AgentChannel> agent = agent_;
    if (!agent) throw Error{Errc::unavailable, Fault::agent, "the sandbox's agent is being joined again"};
    if (door_->is_open()) co_return;
    greeting_ = true;
    const Defer done{[this] {
        greeting_ = false;
        changed_.notify_all();
    }};
    co_await agent->hello(deps_.config.hello_limit);
    if (quiesced_) {
        const auto now = deps_.clock.wall().time_since_epoch();
        co_await agent->renew({.wall_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds{now}.count())});
        quiesced_ = false;
    }
    if (its == Agent::new_born) {
        co_await trust_authority(agent);
    } else {
        co_await try_to_trust(agent);  // its disk may be full; it lives on
    }
    co_await configure(agent);
    if (its == Agent::known) co_await processes_.join(agent);
    settle_installs();
    if (is_over(record_.state)) throw Error{Errc::unavailable, Fault::client, "the sandbox has ended"};
    door_->open(agent);
}

Task<> LiveSandbox::configure(std::shared_ptr<AgentChannel> agent) {
    co_await agent->configure({.env = environment(),
                               .default_user = deps_.config.default_user,
                               .default_cwd = deps_.config.default_cwd,
                               .metadata_space = deps_.config.metadata_space,
                               .open_files = record_.limits.open_files});
}

Task<> LiveSandbox::drop_agent(std::string why) {
    door_->shut(std::move(why));
    if (const auto agent = std::exchange(agent_, nullptr)) co_await agent->close();
}

// --- states -----------------------------------------------------------------------------------------------

void LiveSandbox::move_to(SandboxState next) {
    OYAT_ASSERT(may_follow(record_.state, next));
    record_.state = next;
    changed_.notify_all();
}

Task<> LiveSandbox::settle() {
    const auto self = shared_from_this();
    while (is_changing(record_.state)) co_await changed_.wait();
}

// --- its end ---------------------------------------------------------------------------------------------

Task<bool> LiveSandbox::end(Ending ending) {
    co_await settle();
    while (end_under_way_) co_await changed_.wait();
    if (record_.state == SandboxState::ended) co_return false;
    end_under_way_ = true;
    const Defer done{[this] {
        end_under_way_ = false;
        changed_.notify_all();
    }};
    if (record_.state != SandboxState::ending) {
        move_to(SandboxState::ending);
        record_.ended_by = ending.reason;
        record_.ended_detail = ending.detail;
        processes_.interrupt(Error{Errc::unavailable, Fault::client, "the sandbox was ended"});
    }
    // Nothing may keep a sandbox from ending, so a store that fails is only noted; a restart finds the rest.
    try {
        co_await save();
    } catch (const Error& e) {
        log::error("end of a sandbox not saved", {{"sandbox", record_.id}, {"error", e.message()}});
    }
    deps_.egress.detach(record_.id);  // first: its listeners go with the box
    if (!ending.gone_already) co_await take_last_look(ending.reason);
    if (!ending.gone_already) {
        try {
            ending.last_usage = co_await deps_.keeper.kill(record_.id);
        } catch (const Error& e) {
            if (e.code() != Errc::not_found) throw;
        }
    }
    co_await finish_end(std::move(ending));
    co_return true;
}

Task<> LiveSandbox::finish_end(Ending ending) {
    co_await drop_agent("the sandbox has ended");
    co_await processes_.end("the sandbox has ended: " + std::string{to_string(record_.ended_by)});
    co_await let_go_of_secrets();
    co_await forget_packages();
    record_.ended_at = deps_.clock.wall();
    emit_or_log(deps_.events, ended_event(ending));
    move_to(SandboxState::ended);
    try {
        co_await save();
    } catch (const Error& e) {
        log::error("end of a sandbox not saved", {{"sandbox", record_.id}, {"error", e.message()}});
    }
    deps_.masks.forget(record_.id);
}

Event LiveSandbox::ended_event(const Ending& ending) const {
    const Witness by = ending.who ? Witness::api : Witness::host;
    Event event = sandbox_event(record_, "sandbox.ended", by);
    if (is_failure(record_.ended_by)) event.fault = fault_of(record_.ended_by);
    event.fields["ended_by"] = to_string(record_.ended_by);
    if (!record_.ended_detail.empty()) event.fields["detail"] = json_text(record_.ended_detail);
    event.fields["life_ms"] =
        std::max<std::int64_t>(0, unix_millis(record_.ended_at) - unix_millis(record_.created));
    if (ending.who) add_who(event, *ending.who);
    if (const auto& usage = ending.last_usage) {
        event.fields["usage"] = {{"cpu_us", usage->cpu_us},
                                 {"memory_peak", usage->memory_peak},
                                 {"oom_kills", usage->oom_kills},
                                 {"processes_denied", usage->processes_denied},
                                 {"disk_used", usage->disk_used}};
    }
    return event;
}

Task<> LiveSandbox::close() {
    co_await settle();
    co_await processes_.close();
    co_await drop_agent("oyatd is being restarted");
}

Task<> LiveSandbox::undo_create() {
    move_to(SandboxState::ending);  // whoever waits for it goes
    deps_.egress.detach(record_.id);
    co_await drop_agent("the sandbox could not be made");
    co_await processes_.close();
    const auto try_to = [this](const char* what, Task<> step) -> Task<> {
        try {
            co_await std::move(step);
        } catch (const Error& e) {
            if (e.code() == Errc::not_found) co_return;
            log::error("undo of a create", {{"sandbox", record_.id}, {"step", what}, {"error", e.message()}});
        }
    };
    const auto kill = [](Keeper& keeper, std::string id) -> Task<> { co_await keeper.kill(std::move(id)); };
    co_await try_to("kill", kill(deps_.keeper, record_.id));
    co_await try_to("forget", deps_.store.forget(record_.id));
    deps_.masks.forget(record_.id);
    co_await let_go_of_secrets();
    move_to(SandboxState::ended);
}

// --- life -------------------------------------------------------------------------------------------------

void LiveSandbox::expose(std::uint16_t port, Reach reach) {
    record_.exposure.ports[port] = reach;
    // One that was made before sandboxes had a token for their ports.
    if (record_.exposure.token.empty()) record_.exposure.token = random_hex(32);
}

void LiveSandbox::set_life(Millis timeout, TimeoutMode mode) {
    const MonoTime now = deps_.clock.mono();
    const MonoTime latest = run_since_ + deps_.config.max_life;
    const MonoTime wanted = std::min(now + timeout, latest);
    if (mode == TimeoutMode::extend_only && wanted <= deadline_) return;
    deadline_ = wanted;
    record_.timeout = timeout;
    record_.end_at = deps_.clock.wall() + std::chrono::duration_cast<Millis>(wanted - now);
}

void LiveSandbox::restore_life() {
    const WallTime now = deps_.clock.wall();
    run_since_ -= std::max(now - record_.started, WallTime::duration{0});
    const auto left = std::chrono::duration_cast<Millis>(record_.end_at - now);
    // The wall clock may have jumped meanwhile; never more than what was asked for.
    deadline_ = deps_.clock.mono() + std::clamp(left, Millis{0}, std::max(record_.timeout, Millis{0}));
}

Task<> LiveSandbox::save() {
    return deps_.store.save(record_);
}

std::optional<Signal> LiveSandbox::sample(const BoxUsage& usage) {
    limits_.observe(usage);
    history_.add(deps_.clock.wall(), deps_.clock.mono(), usage);
    processes_.tidy();
    const Traffic traffic = deps_.egress.traffic(record_.id);
    if (auto signal = suspicion_.see_traffic(traffic, deps_.clock.mono())) return signal;
    constexpr double kPerMille = 10;  // a whole CPU is 1,000 thousandths and 100 per cent
    return suspicion_.see_cpu(history_.latest_percent(), record_.limits.cpu_millis / kPerMille,
                              deps_.clock.mono());
}

}  // namespace oyat::core
