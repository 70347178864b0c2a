#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace oyat {

using Millis = std::chrono::milliseconds;
using WallTime = std::chrono::system_clock::time_point;
using MonoTime = std::chrono::steady_clock::time_point;

// Time is a parameter: tests of a 24-hour timeout take no time.
class Clock {
public:
    virtual ~Clock() = default;
    [[nodiscard]] virtual WallTime wall() const = 0;
    [[nodiscard]] virtual MonoTime mono() const = 0;
};

// The machine's clock.
class SystemClock final : public Clock {
public:
    [[nodiscard]] WallTime wall() const override { return std::chrono::system_clock::now(); }
    [[nodiscard]] MonoTime mono() const override { return std::chrono::steady_clock::now(); }
};

// "2026-11-30T10:02:03.114Z" (RFC 3339, UTC, milliseconds).
[[nodiscard]] std::string to_rfc3339(WallTime time);
// "2026-12-01T00:00:00Z", with or without a fraction of the second; "+02:00" in place of the Z.
[[nodiscard]] Result<WallTime> parse_rfc3339(std::string_view text);

[[nodiscard]] inline std::int64_t unix_millis(WallTime time) {
    return std::chrono::duration_cast<Millis>(time.time_since_epoch()).count();
}
[[nodiscard]] inline WallTime from_unix_millis(std::int64_t ms) {
    return WallTime{Millis{ms}};
}

}  // namespace oyat
