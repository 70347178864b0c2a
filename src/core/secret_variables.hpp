#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "masking/value.hpp"

namespace oyat::core {

// Whether a variable of that name holds a secret, as its words tell: GITHUB_TOKEN, npm_config_password.
[[nodiscard]] bool names_a_secret(std::string_view variable);

// What of these variables must not be seen: the values of those that name a secret, and the passwords in
// URLs.
[[nodiscard]] std::vector<masking::Value> secrets_in(const std::map<std::string, std::string>& variables);

}  // namespace oyat::core
