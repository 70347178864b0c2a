#pragma once

#include <cstdint>

#include "netns/shape.hpp"

namespace oyat::netns {

// Where the redirect leads.
struct RedirectPorts {
    std::uint16_t proxy;
    std::uint16_t dns_udp;
    std::uint16_t dns_tcp;

    bool operator==(const RedirectPorts&) const = default;
};

// Puts the packet rules into the calling thread's namespace, which has none yet, in one transaction. Where
// the sandbox's processes stand in it (Shape::loopback):
//
//   table ip oyat {
//     chain local { type filter hook output priority -300; policy accept;
//       ip saddr 127.0.0.1 tcp sport PROXY accept
//       ip saddr 127.0.0.1 udp sport DNS_UDP accept
//       ip saddr 127.0.0.1 tcp sport DNS_TCP accept
//       ip daddr 127.0.0.0/8 notrack
//       ip daddr 10.254.0.2 notrack }
//     chain turn { type nat hook output priority -100; policy accept;
//       limit rate over 2000/second burst 4000 packets drop
//       udp dport 53 redirect to :DNS_UDP
//       tcp dport 53 redirect to :DNS_TCP
//       meta l4proto tcp redirect to :PROXY }
//     chain guard { type filter hook output priority 0; policy drop;
//       ip daddr 127.0.0.0/8 accept
//       ip daddr 10.254.0.2 accept }
//   }
//
// Traffic among a sandbox's own programs is not tracked at all: it needs no translation, and each tracked
// flow takes kernel memory that is charged to nobody. For the same reason new flows to the outside are
// limited in number; what is over the limit is sent again by TCP a second later. Whatever was not turned to a
// local socket by `turn` still bears its outside address in `guard` and is dropped there, which the sender
// sees as EPERM at once.
//
// Where a link leads to the sandbox (the other shapes):
//
//   table ip oyat {
//     chain sort { type filter hook prerouting priority -150; policy accept;
//       ct direction reply accept
//       udp dport 53 accept
//       tcp dport 53 accept
//       ip daddr != 10.254.0.1 meta l4proto tcp accept
//       meta l4proto tcp reject with tcp reset
//       reject with icmp type port-unreachable }
//     chain turn { type nat hook prerouting priority -100; ...  the same as above ... }
//     chain guard { type filter hook input priority 0; policy drop;
//       ct state established,related accept
//       ct status dnat accept }
//     chain pass { type filter hook forward priority 0; policy drop; }
//   }
//
// A network stack that is not the host's believes an answer sooner than silence: TCP straight to our own
// address, listeners included, is reset, and all other traffic gets the one kind of ICMP that every stack
// reports at once. What was refused in `sort` is never tracked.
void install_rules(Shape shape, RedirectPorts ports);

// The same in place of those of an earlier call, in one transaction. The kernel waits for all packets under
// way to be done with the old ones: 7 ms.
void replace_rules(Shape shape, RedirectPorts ports);

// Whether replace_rules() was ever called in the calling thread's namespace, by whichever keeper.
[[nodiscard]] bool rules_were_replaced();

}  // namespace oyat::netns
