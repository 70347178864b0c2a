#include <utility>

#include "core/lifecycle.hpp"
#include "core/live_sandbox.hpp"
#include "core/record_fields.hpp"

// What the operator's brakes do to one sandbox.
namespace oyat::core {

void LiveSandbox::require_no_hold() const {
    if (!record_.held) return;
    throw Error{Errc::failed_precondition, Fault::oyat_operator,
                "sandbox " + record_.id +
                    " is held by the operator of this server, who alone lets it go ('oyat thaw')"};
}

void LiveSandbox::note_hold() {
    if (std::exchange(record_.held, true)) return;
    emit_or_log(deps_.events, sandbox_event(record_, "sandbox.held", Witness::host));
    if (agent_) agent_->set_frozen(true);
    stand_still();
}

Task<> LiveSandbox::finish_hold() {
    co_await settle();
    if (record_.held) stand_still();
    if (!is_over(record_.state)) co_await save();
}

void LiveSandbox::stand_still() {
    if (record_.state != SandboxState::running) return;
    move_to(SandboxState::pausing);
    processes_.interrupt(Error{Errc::unavailable, Fault::oyat_operator, "the operator holds the sandbox"});
    move_to(SandboxState::paused);
}

Task<> LiveSandbox::note_release(bool stays_paused) {
    if (!std::exchange(record_.held, false)) co_return;
    emit_or_log(deps_.events, sandbox_event(record_, "sandbox.released", Witness::host));
    if (stays_paused) co_return;
    co_await resume(std::nullopt, Keep::memory, std::nullopt);
    if (agent_) agent_->set_frozen(false);  // it may have run all the while: the hold came into a resume
}

void LiveSandbox::set_egress(bool off_here, bool off_for_all) {
    record_.egress_off = off_here;
    egress_off_for_all_ = off_for_all;
    policy_ = compose_policy();
}

void LiveSandbox::note_egress(bool off_here, bool off_for_all) {
    const bool was_off = record_.egress_off || egress_off_for_all_;
    set_egress(off_here, off_for_all);
    const bool off = off_here || off_for_all;
    if (off == was_off || is_over(record_.state)) return;
    renew_policy();
    emit_or_log(deps_.events,
                sandbox_event(record_, off ? "sandbox.egress_off" : "sandbox.egress_on", Witness::host));
}

}  // namespace oyat::core
