#pragma once

#include <string>
#include <string_view>

#include "base/fd.hpp"

namespace oyat::microvm {

[[nodiscard]] Fd open_file(const std::string& path, int flags, unsigned mode = 0600);
[[nodiscard]] std::string read_whole(const std::string& path);
[[nodiscard]] bool exists(const std::string& path);
// Written whole, so that another file of the name is gone only when this one is there and synced.
void write_whole(const std::string& path, std::string_view content);
void write_all(int fd, std::string_view bytes);

// Others who ask for the lock of the same file wait; ends with the object, or with the process.
[[nodiscard]] Fd hold_lock(const std::string& path);

}  // namespace oyat::microvm
