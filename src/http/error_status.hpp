#pragma once

#include "base/error.hpp"

namespace oyat::http {

// The status that stands for an error's code where a protocol does not say otherwise.
[[nodiscard]] int status_of(Errc code) noexcept;

}  // namespace oyat::http
