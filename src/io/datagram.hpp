#pragma once

#include <optional>
#include <span>
#include <string_view>

#include "io/address.hpp"
#include "io/async_fd.hpp"

namespace oyat {

// A bound UDP socket that was handed to us, which answers from the very address that was asked.
class DatagramSocket {
public:
    DatagramSocket(Executor executor, Fd socket);

    struct Received {
        std::size_t size = 0;  // of the datagram; longer than the buffer means that it was cut
        SocketAddress from;
        std::optional<SocketAddress>
            to;  // the address it was sent to, with the port before any redirect where known
    };
    Task<Received> recv_from(std::span<char> into);

    // Sends at once or drops: a full buffer is the network's loss, not a wait. `source` is the local address
    // to answer from (Received::to); without one the kernel chooses.
    void send_to(std::string_view bytes, const SocketAddress& to,
                 const std::optional<SocketAddress>& source = std::nullopt);

    void close() noexcept { socket_.close(); }

private:
    AsyncFd socket_;
};

}  // namespace oyat
