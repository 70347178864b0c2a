#pragma once

#include <string>
#include <string_view>

namespace oyat::auth {

// SHA-256 as 64 lower-case hex digits.
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace oyat::auth
