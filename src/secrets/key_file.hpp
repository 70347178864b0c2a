#pragma once

#include <string>

#include "secrets/secret_value.hpp"

namespace oyat::secrets {

// The key that seals all values, from a file that only its owner reads (0400) and that lies outside the
// database; made when there is none. The file holds 64 hex digits. Throws Error{failed_precondition} for a
// file that others may read or that holds something else.
[[nodiscard]] SecretValue read_or_make_key(const std::string& path);

}  // namespace oyat::secrets
