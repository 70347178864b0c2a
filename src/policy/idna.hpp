#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace oyat::policy {

// A name as DNS knows it: "bücher.example" -> "xn--bcher-kva.example" (IDNA 2008, non-transitional). A name
// of ASCII alone comes back as it is.
[[nodiscard]] Result<std::string> to_a_labels(std::string_view name);

}  // namespace oyat::policy
