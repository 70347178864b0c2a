#include "io/connect.hpp"

#include <sys/socket.h>

#include <cerrno>

#include "base/throwing.hpp"
#include "io/async_fd.hpp"
#include "io/timer.hpp"

namespace oyat {
namespace {

Error unreachable(int err, const std::string& what) {
    return Error{Errc::unavailable, errno_error(err, what).message()};
}

}  // namespace

Task<Fd> connect(SocketAddress address, Millis limit) {
    const std::string what = "connect to " + address.to_string();
    AsyncFd socket{
        co_await boost::asio::this_coro::executor,
        Fd{sys(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "make a socket")}};
    if (::connect(socket.get(), address.data(), address.size()) != 0) {
        // A full backlog of a unix socket is EAGAIN, and there is no event to wait for.
        if (errno != EINPROGRESS) throw unreachable(errno, what);
        co_await with_timeout(limit, what, socket.writable());
        int err = 0;
        socklen_t length = sizeof err;
        sys(::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &err, &length), what);
        if (err != 0) throw unreachable(err, what);
    }
    co_return socket.release();
}

}  // namespace oyat
