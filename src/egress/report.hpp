#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <optional>
#include <string>

#include "core/event.hpp"
#include "io/timer.hpp"

namespace oyat::egress {

// What one sandbox's proxy and name server tell the record.
class Report {
public:
    Report(Executor executor, core::EventBus& events, std::string sandbox, std::string tenant);

    // Throws when it cannot be recorded: then it must not happen.
    void event(std::string type, boost::json::object fields, std::optional<Fault> fault = std::nullopt);
    // For what has happened already: a failure to record it can only be logged.
    void event_logged(std::string type, boost::json::object fields, std::optional<Fault> fault) noexcept;
    // For what a program can repeat at will: the first is shown at once, the rest once a minute as a `count`.
    void repeated(std::string type, boost::json::object fields,
                  std::optional<Fault> fault = std::nullopt) noexcept;
    // Shows what is still counted, and forgets it. The last thing before the sandbox's record ends.
    void flush() noexcept;

private:
    struct Seen {
        core::Event event;
        std::uint64_t count = 0;  // since it was shown last
    };
    core::Event make(std::string type, boost::json::object fields, std::optional<Fault> fault) const;
    void emit_logged(core::Event event) noexcept;
    void show(Seen& seen) noexcept;
    void turn_of_the_minute();

    core::EventBus& events_;
    std::string sandbox_;
    std::string tenant_;
    std::map<std::string, Seen> seen_;
    Timer minute_;
};

}  // namespace oyat::egress
