#pragma once

#include <csignal>

#include "io/loop.hpp"
#include "io/task.hpp"

namespace oyat::cli {

// Ends when the person no longer wants to wait: for a race with what is under way.
inline Task<> interrupted() {
    co_await wait_signal({SIGINT, SIGTERM});
}

}  // namespace oyat::cli
