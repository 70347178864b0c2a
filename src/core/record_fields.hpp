#pragma once

#include <string>

#include "core/event.hpp"
#include "core/sandbox_record.hpp"

// Events that several places make the same way. What each type carries is listed in docs/internals/events.md.
namespace oyat::core {

// An event about a sandbox, without fields yet.
[[nodiscard]] Event sandbox_event(const SandboxRecord& record, std::string type, Witness by = Witness::api);

// Who asked: key, client, protocol.
void add_who(Event& event, const Principal& who);

// Why something failed: code, sentence, and the event's fault.
void add_failure(Event& event, const Error& error);

// Emits what must not stop the work when the record cannot be written, such as the end of something: that is
// logged instead. Returns the id, or "".
std::string emit_or_log(EventBus& events, Event event);

}  // namespace oyat::core
