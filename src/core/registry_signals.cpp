#include <utility>

#include "base/log.hpp"
#include "core/json_text.hpp"
#include "core/lifecycle.hpp"
#include "core/record_fields.hpp"
#include "core/registry.hpp"

// Signals: every event of a sandbox, and every sample of what it uses, is looked at once; what looks wrong
// goes on the record, and the sandbox is held or ended where the operator said so.
namespace oyat::core {

void Registry::watch_events() {
    deps_.events.listen([weak = std::weak_ptr{listening_}](const Event& event) {
        const auto registry = weak.lock();
        if (!registry || event.sandbox.empty()) return;
        Registry& self = **registry;
        const auto found = self.live_.find(event.sandbox);
        if (found == self.live_.end()) return;
        found->second->hear_traffic(event);
        auto signal = found->second->suspicion().hear(event, self.deps_.clock.mono());
        // On a later turn: this event is not on its way to everybody yet.
        if (signal) self.tasks_.spawn(self.act_on(event.sandbox, *std::move(signal)));
    });
}

Task<> Registry::act_on(std::string id, Signal signal) {
    const auto found = live_.find(id);
    if (found == live_.end() || is_over(found->second->record().state)) co_return;
    const Live sandbox = found->second;
    const SignalAction action = deps_.config.signals.action(signal.kind);
    const std::string name{to_string(signal.kind)};
    if (signal.kind != SignalKind::dns_tunnel) {  // which the name server has recorded
        Event event = sandbox_event(sandbox->record(), "signal." + name, Witness::host);
        event.fields["sentence"] = json_text(signal.why);
        event.fields["action"] = to_string(action);
        emit_or_log(deps_.events, std::move(event));
    }
    const Principal who{.tenant = sandbox->record().tenant, .client = "signal " + name, .protocol = "oyat"};
    try {
        if (action == SignalAction::freeze) {
            co_await pull({.brake = BrakeOrder::Brake::hold, .ids = {id}}, who);
        } else if (action == SignalAction::kill) {
            co_await put_down_as(sandbox, {.reason = EndedBy::signal, .detail = name + ": " + signal.why});
        }
    } catch (const Error& e) {
        if (e.code() == Errc::canceled) throw;
        log::error("a signal was not acted on", {{"sandbox", id}, {"signal", name}, {"error", e.message()}});
    }
}

}  // namespace oyat::core
