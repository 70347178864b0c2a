#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace oyat::e2b {

// The user that an Authorization header names ("Basic base64(user:)"), "" without one: the sandbox's default
// user. Any password is ignored: the token in X-Access-Token is what proves. Refuses what is not in that
// form.
[[nodiscard]] Result<std::string> acting_user(std::string_view authorization);

}  // namespace oyat::e2b
