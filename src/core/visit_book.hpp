#pragma once

#include <string>
#include <unordered_set>

#include "core/event.hpp"
#include "core/sandbox_record.hpp"

namespace oyat::core {

// Somebody at a port of a sandbox, let in or not.
struct Visit {
    std::uint16_t port = 0;
    std::string peer;    // address
    std::string client;  // what it says of itself
    std::string by;      // why it was let in: "anyone", "token", "link"; "" when it was not
    std::string reason;  // why it was not
};

// Puts visitors of ports on the record: the first visit of each in a day, and the first refusal, since a
// page makes hundreds and a stranger could make any number. Bounded; when full it forgets, and says some
// again.
class VisitBook {
public:
    VisitBook(EventBus& events, const Clock& clock) : events_{events}, clock_{clock} {}

    // Throws when the record can't be written: then nobody is let in.
    void note(const SandboxRecord& sandbox, const Visit& visit);

private:
    EventBus& events_;
    const Clock& clock_;
    std::int64_t day_ = 0;
    std::unordered_set<std::string> seen_;
};

}  // namespace oyat::core
