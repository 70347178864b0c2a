#pragma once

#include <exception>

namespace oyat {

// True for the exception of a canceled task, in either of its two forms (see task_group.hpp).
[[nodiscard]] bool is_canceled(const std::exception_ptr& error) noexcept;
[[nodiscard]] bool is_canceled(const std::exception& error) noexcept;

}  // namespace oyat
