#pragma once

namespace oyat::layers {

// For a forked child that clears away: takes a low CPU and I/O priority and closes all descriptors but the
// standard streams and `fd`, which it returns under its new number. What the parent closes is then closed.
[[nodiscard]] int become_low_priority_with(int fd);

}  // namespace oyat::layers
