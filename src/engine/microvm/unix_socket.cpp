#include "engine/microvm/unix_socket.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>

#include "base/throwing.hpp"

namespace oyat::microvm {
namespace {

constexpr int kBacklog = 4;

sockaddr_un address_of(const std::string& path) {
    sockaddr_un address{.sun_family = AF_UNIX};
    if (path.size() >= sizeof address.sun_path) {
        throw Error{Errc::invalid_argument, Fault::oyat_operator,
                    "the path " + path + " is too long for a socket"};
    }
    std::ranges::copy(path, address.sun_path);
    return address;
}

Fd make_socket() {
    return Fd{sys(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), "make a socket")};
}

}  // namespace

Fd listen_at(const std::string& path) {
    const sockaddr_un address = address_of(path);
    Fd socket = make_socket();
    sys(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind " + path);
    sys(::listen(socket.get(), kBacklog), "listen at " + path);
    return socket;
}

Fd connect_to(const std::string& path) {
    const sockaddr_un address = address_of(path);
    Fd socket = make_socket();
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
        throw Error{Errc::unavailable, Fault::engine, errno_error(errno, "connect to " + path).message()};
    }
    return socket;
}

std::string path_of_socket(int socket) {
    sockaddr_un address{};
    socklen_t length = sizeof address;
    sys(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length), "name of a socket");
    return std::string{address.sun_path, std::find(address.sun_path, std::end(address.sun_path), '\0')};
}

}  // namespace oyat::microvm
