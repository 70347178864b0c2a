#pragma once

#include <exception>

#include "base/error.hpp"

namespace oyat {

// What a wait of io throws when its task has been canceled.
[[nodiscard]] inline Error canceled() {
    return Error{Errc::canceled, "canceled"};
}

// True for that error, and for Asio's own form of it.
[[nodiscard]] bool is_canceled(const std::exception_ptr& error) noexcept;

}  // namespace oyat
