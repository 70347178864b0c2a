#pragma once

#include <functional>
#include <memory>
#include <string>

#include "engine/common/process.hpp"
#include "engine/common/work.hpp"

namespace oyat::engine {

// Runs `body` in a forked child with everything that the keeper has; what it returns (at most 400 bytes, no
// NUL) is the outcome. Given up, the child is killed and `undo` runs here; as it does when the body throws.
[[nodiscard]] std::unique_ptr<Work<std::string>> forked(std::function<std::string()> body,
                                                        std::function<void()> undo);

// The same for a body that starts the process of a sandbox and returns its pid. The process outlives the
// child and is not the keeper's to reap.
[[nodiscard]] std::unique_ptr<Work<Process>> forked_start(std::function<pid_t()> body,
                                                          std::function<void()> undo);

// The same for a body that has nothing to say.
[[nodiscard]] std::unique_ptr<Work<Nothing>> forked_doing(std::function<void()> body,
                                                          std::function<void()> undo);

}  // namespace oyat::engine
