#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"

// How people read and write sizes and times.
namespace oyat::cli {

[[nodiscard]] std::string show_bytes(std::uint64_t bytes);  // "1.5 GiB"
[[nodiscard]] std::string show_duration(Millis duration);   // "250 ms", "3.2 s", "5 min", "2 h"
[[nodiscard]] std::string show_cpus(std::uint64_t millis);  // "2 CPUs", "0.5 CPUs"
// How long ago, and how long until, a time as the server writes it; "" when it is no time.
[[nodiscard]] std::string show_age(std::string_view rfc3339, WallTime now);
[[nodiscard]] std::string show_until(std::string_view rfc3339, WallTime now);

// "2GiB", "512m", "1000": powers of 1,024.
[[nodiscard]] Result<std::uint64_t> parse_bytes(std::string_view text);
// "90" (seconds), "250ms", "90s", "5m", "24h", "30d".
[[nodiscard]] Result<Millis> parse_duration(std::string_view text);
// The same, more than nothing: a limit of 0 would be read as none.
[[nodiscard]] Result<std::uint64_t> parse_size_limit(std::string_view text);
[[nodiscard]] Result<Millis> parse_time_limit(std::string_view text);
// "2", "0.5": thousandths of a CPU, 10 at least.
[[nodiscard]] Result<std::uint64_t> parse_cpus(std::string_view text);
// "127.0.0.1:3000": an address and a port that clients can be told beforehand, so not 0.
[[nodiscard]] Result<std::string> parse_listen(std::string_view text);
// "example.org:443", "[2001:db8::1]:443".
[[nodiscard]] Result<std::pair<std::string, std::uint16_t>> parse_destination(std::string_view text);
// "NAME=VALUE".
[[nodiscard]] Result<std::pair<std::string, std::string>> parse_pair(std::string_view text);

// Columns as wide as their widest cell; the first row is the heading. Cells hold no colour.
[[nodiscard]] std::string show_table(const std::vector<std::vector<std::string>>& rows);

}  // namespace oyat::cli
