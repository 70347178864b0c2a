#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace oyat {

// An IPv4, IPv6 or unix address as the socket calls take it.
class SocketAddress {
public:
    SocketAddress() = default;
    SocketAddress(const sockaddr* address, socklen_t length);

    // "127.0.0.1" or "::1" (numbers only, no names) and a port.
    static Result<SocketAddress> ip(std::string_view address, std::uint16_t port);
    // A path in the file system, at most 107 bytes.
    static Result<SocketAddress> unix_path(std::string_view path);

    [[nodiscard]] int family() const noexcept { return storage_.ss_family; }
    [[nodiscard]] std::string host() const;  // without port; "unix" for unix sockets; IPv4-mapped as IPv4
    [[nodiscard]] std::uint16_t port() const noexcept;
    [[nodiscard]] std::string to_string() const;  // "127.0.0.1:80", "[::1]:80", "unix"

    [[nodiscard]] const sockaddr* data() const noexcept {
        return reinterpret_cast<const sockaddr*>(&storage_);
    }
    [[nodiscard]] socklen_t size() const noexcept { return length_; }

    friend bool operator==(const SocketAddress& a, const SocketAddress& b) noexcept;

private:
    sockaddr_storage storage_{};
    socklen_t length_ = 0;
};

// Of a connected or bound socket. Both throw Error.
[[nodiscard]] SocketAddress local_address(int socket);
[[nodiscard]] SocketAddress peer_address(int socket);

// Where a connection that a netfilter redirect brought to us wanted to go. Nothing when it was not
// redirected.
[[nodiscard]] std::optional<SocketAddress> original_destination(int socket);

}  // namespace oyat
