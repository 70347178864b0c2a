#include "io/listen.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cerrno>

#include "base/throwing.hpp"

namespace oyat {
namespace {

constexpr int kBacklog = 4096;  // cut to net.core.somaxconn by the kernel

Fd stream_socket(int family) {
    return Fd{sys(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "make a socket")};
}

// A socket file whose owner has died refuses connections.
bool is_abandoned(const SocketAddress& address, const std::string& path) {
    struct stat info{};
    if (::lstat(path.c_str(), &info) != 0 || !S_ISSOCK(info.st_mode)) return false;
    const Fd probe = stream_socket(AF_UNIX);
    return ::connect(probe.get(), address.data(), address.size()) != 0 && errno == ECONNREFUSED;
}

}  // namespace

Fd listen_tcp(const SocketAddress& address) {
    return in("listen on " + address.to_string(), [&] {
        Fd socket = stream_socket(address.family());
        const int on = 1;
        sys(::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), "reuse address");
        sys(::bind(socket.get(), address.data(), address.size()), "bind");
        sys(::listen(socket.get(), kBacklog), "listen");
        return socket;
    });
}

Fd listen_unix(const std::string& path, unsigned mode) {
    return in("listen on " + path, [&] {
        const SocketAddress address = or_throw(SocketAddress::unix_path(path));
        Fd socket = stream_socket(AF_UNIX);
        // The file gets the socket's own mode less the umask: nobody connects before chmod widens it.
        sys(::fchmod(socket.get(), 0600 & mode), "set mode of the socket");
        int bound = ::bind(socket.get(), address.data(), address.size());
        if (bound != 0 && errno == EADDRINUSE && is_abandoned(address, path)) {
            sys(::unlink(path.c_str()), "remove the abandoned socket");
            bound = ::bind(socket.get(), address.data(), address.size());
        }
        sys(bound, "bind");
        sys(::chmod(path.c_str(), mode), "set mode of the socket file");
        sys(::listen(socket.get(), kBacklog), "listen");
        return socket;
    });
}

}  // namespace oyat
