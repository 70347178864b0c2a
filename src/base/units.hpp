#pragma once

#include <cstdint>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"

// How people write sizes and times in the configuration and in policies.
namespace oyat {

// "64MiB", "2GiB", "512KiB", "1000": powers of 1,024.
[[nodiscard]] Result<std::uint64_t> parse_bytes(std::string_view text);

// "90s", "5m", "24h", "30d", "250ms".
[[nodiscard]] Result<Millis> parse_duration(std::string_view text);

}  // namespace oyat
