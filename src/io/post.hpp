#pragma once

#include <functional>

#include "io/task.hpp"

namespace oyat {

// Runs the function on the executor's loop, later. The one thing here that may be called from any thread; the
// loop must still exist.
void post(const Executor& executor, std::move_only_function<void()> function);

}  // namespace oyat
