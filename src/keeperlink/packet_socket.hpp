#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "io/async_fd.hpp"
#include "io/condition.hpp"

namespace oyat::keeperlink {

// A connected SOCK_SEQPACKET socket: whole packets, descriptors beside them. One receiver; sending never
// waits but queues, and keep_sending() empties the queue.
class PacketSocket {
public:
    PacketSocket(Executor executor, Fd socket) : socket_{std::move(executor), std::move(socket)} {}

    // Connects to a unix socket at `path`; throws Error when nobody listens there.
    static Fd connect(const std::string& path);

    struct Packet {
        std::string bytes;
        std::vector<Fd> fds;  // close-on-exec from the first moment
    };
    // The next packet; throws Error{unavailable} at the end, Error{invalid_argument} when it or its
    // descriptors were cut off.
    Task<Packet> receive();

    // Sends now, or when there is room. Throws Error{exhausted} when too many packets wait already, and
    // Error{unavailable} when the socket is broken.
    void send(std::string bytes, Fd fd);
    // Sends what could not be sent at once, until close().
    Task<> keep_sending();

    // Ends receive() and keep_sending().
    void close() noexcept;

private:
    struct Outgoing {
        std::string bytes;
        Fd fd;
    };
    bool send_now(const Outgoing& packet);

    AsyncFd socket_;
    bool closed_ = false;
    std::deque<Outgoing> queue_;
    Condition queued_;
    std::string buffer_;
};

}  // namespace oyat::keeperlink
