#pragma once

#include <chrono>

#include "base/error.hpp"
#include "http/fields.hpp"

namespace oyat::http {

// The status that stands for an error's code where a protocol does not say otherwise.
[[nodiscard]] int status_of(Errc code) noexcept;

// Tells who was too fast (429) when to come again. Nothing for other answers.
void add_retry_after(Fields& fields, int status, std::chrono::seconds after = std::chrono::seconds{1});

}  // namespace oyat::http
