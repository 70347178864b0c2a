#pragma once

#include <string>
#include <string_view>

#include "base/error.hpp"

namespace oyat::native {

[[nodiscard]] int status_of(const Error& error) noexcept;

// One sentence about what to do next, or "".
[[nodiscard]] std::string_view hint_of(const Error& error) noexcept;

// {"error":{"code":"not_found","message":"...","fault":"client","event":"ev_12","hint":"..."}}
[[nodiscard]] std::string error_json(const Error& error);

}  // namespace oyat::native
