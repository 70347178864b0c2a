#pragma once

#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace oyat::e2b {

// An RFC 3339 time: "2026-11-30T10:02:03.114Z", "2026-11-30T11:02:03+01:00". Finer than milliseconds is cut
// off.
[[nodiscard]] Result<WallTime> parse_timestamp(std::string_view text);

}  // namespace oyat::e2b
