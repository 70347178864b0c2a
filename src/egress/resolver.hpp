#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "io/address.hpp"

namespace oyat::egress {

// One resolver that oyatd asks, and how.
struct Resolver {
    enum class Transport {
        datagram,  // UDP, and TCP for what does not fit
        stream,    // TCP only
        tls        // DNS over TLS (RFC 7858)
    };
    SocketAddress address;
    Transport transport = Transport::datagram;
    std::string name;  // tls: the one that its certificate must be for

    [[nodiscard]] bool is_tls() const { return transport == Transport::tls; }

    // "192.0.2.53", "udp://192.0.2.53:5353", "tcp://[fd00::53]", "tls://192.0.2.53#dns.example". Without a
    // port: 53, and 853 for TLS.
    static Result<Resolver> parse(std::string_view text);
};

// The name servers of a resolv.conf(5), in order, at most three. None listed means 127.0.0.1, as the C
// library has it.
[[nodiscard]] std::vector<Resolver> parse_resolv_conf(std::string_view text);

}  // namespace oyat::egress
