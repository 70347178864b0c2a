#pragma once

#include <boost/json/value.hpp>

#include "cli/commands.hpp"

namespace oyat::cli {

// Creates it and returns what the server says of it.
Task<boost::json::value> make_sandbox(Context& context, NewSandbox options);

}  // namespace oyat::cli
