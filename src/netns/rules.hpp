#pragma once

#include <cstdint>

namespace oyat::netns {

// Where the redirect leads.
struct RedirectPorts {
    std::uint16_t proxy;
    std::uint16_t dns_udp;
    std::uint16_t dns_tcp;

    bool operator==(const RedirectPorts&) const = default;
};

// Puts the packet rules into the calling thread's namespace, replacing those of an earlier call, in one
// transaction:
//
//   table ip oyat {
//     chain turn  { type nat hook output priority -100; policy accept;
//       ip daddr 127.0.0.0/8 accept
//       ip daddr 10.254.0.2 accept
//       udp dport 53 redirect to :DNS_UDP
//       tcp dport 53 redirect to :DNS_TCP
//       meta l4proto tcp redirect to :PROXY }
//     chain guard { type filter hook output priority 0; policy drop;
//       ip daddr 127.0.0.0/8 accept
//       ip daddr 10.254.0.2 accept }
//   }
//
// Whatever was not turned to a local socket by the first chain still bears its outside address in the second
// and is dropped there, which the sender sees as EPERM at once. So also a packet that belongs to no known
// connection.
void install_rules(RedirectPorts ports);

// The same in place of those of an earlier call, in one transaction. The kernel waits for all packets under
// way to be done with the old ones: 7 ms.
void replace_rules(RedirectPorts ports);

// Whether replace_rules() was ever called in the calling thread's namespace, by whichever keeper.
[[nodiscard]] bool rules_were_replaced();

}  // namespace oyat::netns
