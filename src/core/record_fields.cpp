#include "core/record_fields.hpp"

#include <utility>

#include "base/log.hpp"
#include "core/json_text.hpp"

namespace oyat::core {

Event sandbox_event(const SandboxRecord& record, std::string type, Witness by) {
    return {.type = std::move(type), .sandbox = record.id, .tenant = record.tenant, .by = by};
}

void add_who(Event& event, const Principal& who) {
    event.fields["key"] = json_text(who.key_id);
    event.fields["client"] = json_text(who.client);
    event.fields["protocol"] = json_text(who.protocol);
}

void add_failure(Event& event, const Error& error) {
    event.fault = error.fault();
    event.fields["code"] = to_string(error.code());
    event.fields["sentence"] = json_text(error.message());
}

std::string emit_or_log(EventBus& events, Event event) {
    const std::string type = event.type;
    try {
        return events.emit(std::move(event));
    } catch (const Error& e) {
        log::error("event not recorded", {{"type", type}, {"error", e.message()}});
        return {};
    }
}

}  // namespace oyat::core
