#pragma once

#include <optional>
#include <string_view>

#include "masking/expressions.hpp"

namespace oyat::masking {

// The forms of people's data that an operator turns on by name: mail, phone (international form), iban and
// card, the last two with their check digits.
[[nodiscard]] std::optional<Expression> shipped(std::string_view name);
inline constexpr std::string_view kShippedNames = "mail, phone, iban, card";

// Keys of this server, "e2b_" and 40 hex digits, which are hidden wherever the record is kept.
[[nodiscard]] Expression api_keys();

}  // namespace oyat::masking
