#pragma once

#include <boost/json/object.hpp>

#include "core/limits.hpp"

namespace oyat::core {

// Limits under their own names: in the record of a sandbox, in events and in the native API.
[[nodiscard]] boost::json::object limits_json(const Limits& limits);

}  // namespace oyat::core
