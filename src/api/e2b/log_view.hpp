#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "core/event.hpp"
#include "http/url.hpp"

namespace oyat::e2b {

enum class LogLevel { debug, info, warn, error };

// What a sandbox's log is asked for. The log is made of the sandbox's latest events.
struct LogQuery {
    std::optional<std::int64_t> from_ms;  // forward: from here on; backward: up to here
    std::size_t limit = 1000;
    bool backward = false;
    LogLevel lowest = LogLevel::debug;
    std::string search;  // part of the message, "" = all

    // `time_name` is "start" or "cursor", by the version of the call.
    static Result<LogQuery> parse(const http::Query& query, std::string_view time_name);
};

using Events = std::vector<std::shared_ptr<const core::Event>>;

// The events that the query wants, in its order. Takes them oldest first.
[[nodiscard]] Events select(const Events& events, const LogQuery& query);

// "LogEntry".
[[nodiscard]] boost::json::object log_entry(const core::Event& event);
// One line of the older form: JSON in a string, whose "logger" is the event's type, so that clients can
// choose by it.
[[nodiscard]] boost::json::object log_line(const core::Event& event);

}  // namespace oyat::e2b
