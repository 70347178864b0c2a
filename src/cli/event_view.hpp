#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "cli/terminal.hpp"

namespace oyat::cli {

enum class Output { hidden, shown };

// One event as a line for people: time, sandbox, type, what happened. With Output::shown the output that the
// record keeps of a command follows, indented.
[[nodiscard]] std::string show_event(const boost::json::value& event, const Paint& paint, Output output);

// The same from a line of JSON. What cannot be parsed is shown as it is, made printable.
[[nodiscard]] std::string show_event_line(std::string_view line, const Paint& paint, Output output);

// A command's joined record (audit/commands.hpp): a line with its outcome, then its output, indented.
[[nodiscard]] std::string show_command(const boost::json::value& command, const Paint& paint);

}  // namespace oyat::cli
