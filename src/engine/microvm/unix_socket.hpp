#pragma once

#include <string>

#include "base/fd.hpp"

namespace oyat::microvm {

// A listening stream socket at `path`.
[[nodiscard]] Fd listen_at(const std::string& path);
// A connected one; `unavailable` when nobody listens.
[[nodiscard]] Fd connect_to(const std::string& path);
// Where a socket is bound.
[[nodiscard]] std::string path_of_socket(int socket);

}  // namespace oyat::microvm
