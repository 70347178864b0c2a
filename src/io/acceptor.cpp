#include "io/acceptor.hpp"

#include <sys/socket.h>

#include <cerrno>

#include "base/throwing.hpp"
#include "io/timer.hpp"

namespace oyat {
namespace {

// accept(2) hands out errors of the connection that it would have returned; they say nothing about the
// listener.
bool concerns_one_connection(int err) {
    switch (err) {
        case ECONNABORTED:
        case EINTR:
        case EPERM:  // refused by a firewall rule
        case EPROTO:
        case ENETDOWN:
        case ENETUNREACH:
        case EHOSTDOWN:
        case EHOSTUNREACH:
        case ENONET:
        case EOPNOTSUPP:
        case ENOPROTOOPT: return true;
        default: return false;
    }
}

bool is_shortage(int err) {
    return err == EMFILE || err == ENFILE || err == ENOBUFS || err == ENOMEM;
}

}  // namespace

Task<Acceptor::Connection> Acceptor::accept() {
    for (;;) {
        if (listener_.get() < 0) throw Error{Errc::unavailable, "closed"};
        sockaddr_storage peer{};
        socklen_t length = sizeof peer;
        const int fd = ::accept4(listener_.get(), reinterpret_cast<sockaddr*>(&peer), &length,
                                 SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            co_return Connection{Fd{fd}, SocketAddress{reinterpret_cast<const sockaddr*>(&peer), length}};
        }
        const int err = errno;
        if (err == EAGAIN) {
            co_await listener_.readable();
        } else if (err == EINVAL) {
            throw Error{Errc::unavailable, "closed"};  // shut down, by us or by whom we share it with
        } else if (is_shortage(err)) {
            co_await sleep_for(std::chrono::milliseconds{50});
        } else if (!concerns_one_connection(err)) {
            throw errno_error(err, "accept a connection");
        }
    }
}

}  // namespace oyat
