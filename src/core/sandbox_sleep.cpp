#include <algorithm>
#include <utility>

#include "base/defer.hpp"
#include "base/log.hpp"
#include "core/lifecycle.hpp"
#include "core/live_sandbox.hpp"
#include "core/record_fields.hpp"

// How one sandbox is paused and goes on: frozen where it is, or put on disk and started again from there.
namespace oyat::core {
namespace {

// What the checkpoints of runsc could not bring back.
QuiesceRules rules_of(std::string_view engine) {
    const bool strict = engine == "gvisor";
    return {.no_connections = strict, .no_deleted_files = strict};
}

}  // namespace

Task<> LiveSandbox::pause(Pause how, std::optional<Principal> who) {
    co_await settle();
    if (record_.state == SandboxState::paused) {
        throw Error{Errc::failed_precondition, Fault::client, "sandbox " + record_.id + " is paused already"};
    }
    require_running();
    if (copying_ && who) {
        throw Error{Errc::failed_precondition, Fault::client,
                    "sandbox " + record_.id + " is being copied; pause it when that is done"};
    }
    while (copying_) co_await changed_.wait();
    co_await settle();
    require_running();
    Event event = sandbox_event(record_, "sandbox.paused");
    event.fields["keeps"] = to_string(how.keeps);
    if (who) add_who(event, *who);
    if (!who) event.fields["reason"] = "timeout";
    deps_.events.emit(std::move(event));

    move_to(SandboxState::pausing);
    processes_.interrupt(Error{Errc::unavailable, Fault::client, "the sandbox was paused"});
    std::optional<Error> failed;
    try {
        if (how.keeps == Keep::disk || how.on_disk) {
            co_await put_on_disk(how.keeps);
        } else {
            if (agent_) agent_->set_frozen(true);
            co_await deps_.keeper.set_frozen(record_.id, true);
        }
    } catch (const Error& e) {
        failed = e;
    }
    if (failed) co_await undo_pause(*failed);
    move_to(SandboxState::paused);
    co_await save();
}

// Throws it again.
Task<> LiveSandbox::undo_pause(const Error& why) {
    if (agent_) agent_->set_frozen(false);
    move_to(SandboxState::running);
    Event undone = sandbox_event(record_, "sandbox.resumed", Witness::host);
    add_failure(undone, why);
    throw Error{why}.recorded_as(emit_or_log(deps_.events, std::move(undone)));
    co_return;
}

// Files that only a kernel of its own knows of are synced by the agent; the host's are by the keeper.
Task<> LiveSandbox::put_on_disk(Keep what) {
    const bool runs = !record_.stored && door_->is_open();
    if (what == Keep::memory || (runs && record_.boundary == "own-kernel")) co_await quiesce();
    if (agent_) agent_->on_lost({});  // that it goes is what was asked for
    std::optional<Error> failed;
    try {
        co_await deps_.keeper.store(record_.id, what == Keep::memory);
    } catch (const Error& e) {
        failed = e;
    }
    if (failed) {
        // What has become of the agent is found out by joining it again.
        if (lost_) lost_("the sandbox could not be put on disk");
        throw Error{*failed};
    }
    note_stored(true, what == Keep::memory);
    if (what == Keep::disk) deps_.egress.detach(record_.id);
    co_await drop_agent("the sandbox is on disk");
    if (what == Keep::disk) processes_.lose_all("the sandbox was paused without its processes");
}

// From here on programs stand still, until it is joined again.
Task<> LiveSandbox::quiesce() {
    const std::shared_ptr<AgentChannel> agent = door_->channel();
    co_await agent->quiesce(rules_of(record_.engine));
    quiesced_ = true;
    co_await drop_agent("the sandbox is being saved");
}

Task<> LiveSandbox::join_again() {
    NewBox box = co_await deps_.keeper.attach(record_.id);
    record_.generation = box.facts.generation;
    take_handles(std::move(box.handles));
    co_await greet(Agent::known);
}

Task<bool> LiveSandbox::resume(std::optional<Millis> timeout, Keep from, std::optional<Principal> who) {
    co_await settle();
    while (copying_ && record_.state == SandboxState::paused) co_await changed_.wait();
    co_await settle();
    if (record_.state == SandboxState::running) co_return false;
    if (record_.state != SandboxState::paused) require_running();
    require_no_hold();
    const bool from_memory = from == Keep::memory && (!record_.stored || record_.has_memory);
    Event event = sandbox_event(record_, "sandbox.resumed");
    event.fields["from"] = to_string(from_memory ? ResumedFrom::memory : ResumedFrom::disk);
    if (who) add_who(event, *who);
    if (!who) event.fields["reason"] = "released";
    deps_.events.emit(std::move(event));

    move_to(SandboxState::resuming);
    std::optional<Error> failed;
    try {
        if (!from_memory && (!record_.stored || record_.has_memory)) co_await put_on_disk(Keep::disk);
        if (record_.stored) {
            co_await wake_up();
        } else {
            co_await deps_.keeper.set_frozen(record_.id, false);
            if (agent_) agent_->set_frozen(false);
            if (!door_->is_open()) co_await greet(Agent::known);  // it was found frozen after a restart
        }
    } catch (const Error& e) {
        failed = e;
    }
    if (failed) {
        co_await fall_asleep_again();
        throw Error{*failed};
    }
    co_await go_on(timeout.value_or(std::max(record_.timeout, deps_.config.min_resumed_life)),
                   from_memory ? ResumedFrom::memory : ResumedFrom::disk);
    co_return true;
}

// With a life from now on, or with what is left of the one that it has.
Task<> LiveSandbox::go_on(std::optional<Millis> life, ResumedFrom from) {
    record_.resumed_from = from;
    if (life) {
        run_since_ = deps_.clock.mono();
        record_.started = deps_.clock.wall();
    }
    move_to(SandboxState::running);
    if (life) set_life(*life, TimeoutMode::replace);
    co_await save();
    co_await follow_policy();  // which may have changed in its sleep
}

// Its policy is in force before anything in it runs, as when it was made.
Task<> LiveSandbox::wake_up() {
    const bool had_memory = record_.has_memory;
    NewBox box = co_await deps_.keeper.wake(record_.id);
    note_stored(false, false);
    record_.generation = box.facts.generation;
    record_.kernel = box.facts.kernel;
    if (!had_memory) trusted_list_.clear();  // where it was put may be as it was before
    quiesced_ = had_memory;
    take_handles(std::move(box.handles));
    co_await greet(Agent::known);
}

// What did not come up stands still where it is.
Task<> LiveSandbox::fall_asleep_again() {
    if (agent_) agent_->set_frozen(true);
    if (!record_.stored) {
        try {
            co_await deps_.keeper.set_frozen(record_.id, true);
        } catch (const Error& e) {
            log::warn("sandbox not frozen again", {{"sandbox", record_.id}, {"error", e.message()}});
        }
    }
    move_to(SandboxState::paused);
}

void LiveSandbox::note_stored(bool stored, bool has_memory) {
    record_.stored = stored;
    record_.has_memory = stored && has_memory;
}

Task<> LiveSandbox::found_stored(bool has_memory) {
    if (record_.state == SandboxState::running) move_to(SandboxState::pausing);
    processes_.interrupt(Error{Errc::unavailable, Fault::engine, "the sandbox was put on disk"});
    note_stored(true, has_memory);
    co_await drop_agent("the sandbox is on disk");
    if (!has_memory) processes_.lose_all("the sandbox was paused without its processes");
    if (record_.state == SandboxState::pausing) move_to(SandboxState::paused);
    co_await save();
}

// The sandbox stays what it is for others: a snapshot is no state of it.
Task<SnapshotFacts> LiveSandbox::copy(Keep what) {
    co_await settle();
    while (copying_) co_await changed_.wait();
    co_await settle();
    if (record_.state != SandboxState::paused) require_running();
    require_no_hold();
    copying_ = true;
    const Defer done{[this] {
        copying_ = false;
        changed_.notify_all();
    }};
    const bool runs = record_.state == SandboxState::running;
    const bool memory = what == Keep::memory && (runs || record_.has_memory);
    if (runs && memory) co_await quiesce();
    std::optional<SnapshotFacts> facts;
    std::optional<Error> failed;
    try {
        facts = co_await deps_.keeper.make_snapshot(record_.id, memory);
    } catch (const Error& e) {
        failed = e;
    }
    if (quiesced_ && !record_.stored && !is_over(record_.state)) co_await join_again();
    if (failed) throw Error{*failed};
    co_return *std::move(facts);
}

// One change from the first to the last, so that nobody finds it half done.
Task<> LiveSandbox::reset(std::string snapshot, Principal who) {
    co_await settle();
    while (copying_) co_await changed_.wait();
    co_await settle();
    const bool ran = record_.state == SandboxState::running;
    if (!ran && record_.state != SandboxState::paused) require_running();
    require_no_hold();
    Event event = sandbox_event(record_, "sandbox.reset");
    event.fields["snapshot"] = snapshot;
    add_who(event, who);
    deps_.events.emit(std::move(event));

    move_to(ran ? SandboxState::pausing : SandboxState::resuming);
    processes_.interrupt(Error{Errc::unavailable, Fault::client, "the sandbox was reset"});
    std::optional<Error> failed;
    try {
        if (!record_.stored || record_.has_memory) co_await put_on_disk(Keep::disk);
        if (ran) {
            move_to(SandboxState::paused);
            move_to(SandboxState::resuming);
        }
        co_await deps_.keeper.reset(record_.id, snapshot);
        record_.snapshot = snapshot;
        co_await wake_up();
    } catch (const Error& e) {
        failed = e;
    }
    if (failed && record_.state == SandboxState::pausing) co_await undo_pause(*failed);
    if (failed) {
        co_await fall_asleep_again();
        co_await save();
        throw Error{*failed};
    }
    co_await go_on(
        ran ? std::nullopt : std::optional{std::max(record_.timeout, deps_.config.min_resumed_life)},
        ResumedFrom::disk);
}

}  // namespace oyat::core
