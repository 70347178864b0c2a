#pragma once

#include <string>

#include "base/fd.hpp"
#include "io/address.hpp"

namespace oyat {

// A listening, non-blocking, close-on-exec socket. Port 0 takes a free one (see local_address). Throws Error.
[[nodiscard]] Fd listen_tcp(const SocketAddress& address);

// Listens on a path of the file system with these permissions from the first moment on. A socket file that
// nobody listens on any more is replaced; a living one, or another kind of file, is an error.
[[nodiscard]] Fd listen_unix(const std::string& path, unsigned mode);

}  // namespace oyat
