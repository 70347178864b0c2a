#pragma once

#include <cstdint>
#include <string>

namespace oyat::e2b {

// "Mon, 30 Nov 2026 10:02:03 GMT" (RFC 9110, 5.6.7).
[[nodiscard]] std::string http_date(std::int64_t unix_seconds);

}  // namespace oyat::e2b
