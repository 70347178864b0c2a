#pragma once

#include "core/sandbox.hpp"
#include "io/stream.hpp"

namespace oyat::native {

// Carries bytes both ways until both directions have ended, or the sandbox runs no longer.
Task<> tunnel(Stream& client, Stream& inside, core::Sandbox& sandbox);

}  // namespace oyat::native
