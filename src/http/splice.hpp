#pragma once

#include "io/stream.hpp"
#include "io/task.hpp"

namespace oyat::http {

// Moves bytes both ways, at most 64 KiB at a time, until either side ends; then what the other still sends,
// for a few seconds. Returns when both are through.
Task<> splice(Stream& a, Stream& b);

}  // namespace oyat::http
