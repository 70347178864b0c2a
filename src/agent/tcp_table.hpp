#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oyat::agent {

// One end of a connection, in network order; IPv4 is the mapped form of IPv6.
struct TcpEnd {
    std::array<std::uint8_t, 16> address{};
    std::uint16_t port = 0;

    [[nodiscard]] bool is_loopback() const;
    [[nodiscard]] std::string text() const;  // "10.0.0.1:443", "[2001:db8::1]:443"
};

struct TcpConnection {
    TcpEnd local;
    TcpEnd remote;
    std::uint64_t inode = 0;  // of its socket; 0 when no program holds it
};

// Reads the text of /proc/net/tcp or /proc/net/tcp6 and gives what a checkpoint would cut: connections that
// are up, coming up, or still open in one direction, to an address outside. Lines that it cannot read are
// none.
[[nodiscard]] std::vector<TcpConnection> outside_connections(std::string_view table);

}  // namespace oyat::agent
