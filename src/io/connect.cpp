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
    Fd socket{
        sys(::socket(address.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "make a socket")};
    if (::connect(socket.get(), address.data(), address.size()) == 0) co_return socket;
    // A full backlog of a unix socket is EAGAIN, and there is no event to wait for.
    if (errno != EINPROGRESS) throw unreachable(errno, what);

    const Executor executor = co_await boost::asio::this_coro::executor;
    AsyncFd pending{executor, std::move(socket)};
    // Cheaper than with_timeout, and every proxied request comes through here.
    Timer deadline{executor, [&pending] { pending.close(); }};
    deadline.arm(limit);
    try {
        co_await pending.writable();
    } catch (const Error&) {
        if (pending.get() >= 0) throw;
        throw Error{Errc::deadline, what + ": no answer within " + std::to_string(limit.count()) + " ms"};
    }
    int err = 0;
    socklen_t length = sizeof err;
    sys(::getsockopt(pending.get(), SOL_SOCKET, SO_ERROR, &err, &length), what);
    if (err != 0) throw unreachable(err, what);
    co_return pending.release();
}

}  // namespace oyat
