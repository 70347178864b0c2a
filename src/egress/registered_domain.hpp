#pragma once

#include <string>
#include <string_view>

namespace oyat::egress {

// The part of a name that somebody registered and answers for: "example.co.uk" of "www.shop.example.co.uk",
// by the public suffix list. Lower case without a last dot is expected. Without a list, or for a suffix
// itself: the last two labels.
[[nodiscard]] std::string registered_domain(const std::string& name);

}  // namespace oyat::egress
