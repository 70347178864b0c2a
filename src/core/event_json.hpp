#pragma once

#include <boost/json/value.hpp>
#include <string>

#include "core/event.hpp"

namespace oyat::core {

// Appends the value as JSON on one line. Whatever bytes a sandbox put into its strings, the result is valid
// JSON (base/json_escape.hpp), which boost::json::serialize does not promise.
void append_json(std::string& out, const boost::json::value& value);

// The one JSON shape of an event (docs/internals/events.md): in the record, on the event stream, in the
// command line. A field that takes one of the fixed names ("type", "seq", ...) is left out.
[[nodiscard]] std::string to_json_text(const Event& event);

}  // namespace oyat::core
