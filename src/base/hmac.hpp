#pragma once

#include <string>
#include <string_view>

namespace oyat {

// HMAC (RFC 2104) with SHA-256, as 64 lower-case hex digits.
[[nodiscard]] std::string hmac_sha256_hex(std::string_view key, std::string_view message);

}  // namespace oyat
