#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace oyat::secrets {

enum class Base64 { standard, url };

// Standard with padding, url without (RFC 4648, 4 and 5).
[[nodiscard]] std::string base64(std::string_view bytes, Base64 alphabet = Base64::standard);
// Either alphabet, padded or not; nothing for what is none.
[[nodiscard]] std::optional<std::string> from_base64(std::string_view text);

}  // namespace oyat::secrets
