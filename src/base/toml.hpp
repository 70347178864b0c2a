#pragma once

// toml++, made safe for texts of others: what it takes for impossible ("[#" in 3.3) ends the parse, not the
// process.
#include "base/error.hpp"

#define TOML_ENABLE_FORMATTERS 0
#define TOML_ASSERT(expression) \
    ((expression) ? void(0) : throw ::oyat::Error(::oyat::Errc::invalid_argument, "this is no TOML"))
#include <toml++/toml.h>
