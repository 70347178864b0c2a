#pragma once

#include "io/address.hpp"
#include "io/async_fd.hpp"

namespace oyat {

// Accepts connections on a listening socket: one that we made (listen.hpp) or that was handed to us.
class Acceptor {
public:
    Acceptor(Executor executor, Fd listener) : listener_{std::move(executor), std::move(listener)} {}

    struct Connection {
        Fd socket;  // non-blocking, close-on-exec
        SocketAddress peer;
    };
    // The next connection. When descriptors or memory run out it pauses instead of failing, so that one bad
    // moment does not end a server; a connection that was reset before we took it is passed over. Throws
    // Error{unavailable} after close(), and when the socket was shut down.
    Task<Connection> accept();

    void close() noexcept { listener_.close(); }
    [[nodiscard]] int native_fd() const noexcept { return listener_.get(); }

private:
    AsyncFd listener_;
};

}  // namespace oyat
