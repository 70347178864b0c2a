#pragma once

#include <sys/types.h>

#include "agent/loop.hpp"

namespace oyat::agent {

// Copies the next piece from one open file to another: by the kernel where it can (a reflink costs nothing),
// else through the loop's scratch buffer. The bytes copied, 0 at the end, -1 with errno.
[[nodiscard]] ssize_t copy_some(Loop& loop, int from, int to);

// A name that nobody else uses, for a file that is not finished yet.
[[nodiscard]] std::string unfinished_name();

}  // namespace oyat::agent
