#include "egress/resolver.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"

namespace oyat::egress {
namespace {

using Transport = Resolver::Transport;

TEST(Resolver, IsAnAddressAndAWayToAskIt) {
    struct Line {
        std::string_view text;
        std::string_view address;
        Transport transport;
        std::string_view name;
    };
    for (const Line& line : {
             Line{"192.0.2.53", "192.0.2.53:53", Transport::datagram, ""},
             Line{"udp://192.0.2.53:5353", "192.0.2.53:5353", Transport::datagram, ""},
             Line{"tcp://192.0.2.53", "192.0.2.53:53", Transport::stream, ""},
             Line{"fd00::53", "[fd00::53]:53", Transport::datagram, ""},
             Line{"tcp://[fd00::53]", "[fd00::53]:53", Transport::stream, ""},
             Line{"tls://192.0.2.53#dns.example", "192.0.2.53:853", Transport::tls, "dns.example"},
             Line{"tls://[fd00::53]:8853#dns.example", "[fd00::53]:8853", Transport::tls, "dns.example"},
         }) {
        const Resolver resolver = or_throw(Resolver::parse(line.text));
        EXPECT_EQ(resolver.address.to_string(), line.address) << line.text;
        EXPECT_EQ(resolver.transport, line.transport) << line.text;
        EXPECT_EQ(resolver.name, line.name) << line.text;
    }
}

TEST(Resolver, RefusesWhatItWouldNotUnderstand) {
    for (const char* text :
         {"", "dns.example", "192.0.2.53:", "192.0.2.53:0", "192.0.2.53:x", "192.0.2.53:70000", "[fd00::53",
          "[fd00::53]x", "https://192.0.2.53", "tls://192.0.2.53", "tls://192.0.2.53#", "tls://#dns.example",
          "udp://192.0.2.53#dns.example", "192.0.2.53#dns.example", "TLS://192.0.2.53#dns.example"}) {
        EXPECT_FALSE(Resolver::parse(text)) << text;
    }
}

TEST(ResolvConf, GivesTheNameServersInOrder) {
    const auto resolvers = parse_resolv_conf(
        "# comment\nsearch example.org\nnameserver 192.0.2.53\n nameserver\tfd00::53 \nnameserver "
        "fe80::1%eth0\n"
        "nameserver 192.0.2.54\nnameserver 192.0.2.55\noptions ndots:5\n");
    ASSERT_EQ(resolvers.size(), 3u);
    EXPECT_EQ(resolvers[0].address.to_string(), "192.0.2.53:53");
    EXPECT_EQ(resolvers[1].address.to_string(), "[fd00::53]:53");
    EXPECT_EQ(resolvers[2].address.to_string(), "192.0.2.54:53");
    EXPECT_EQ(parse_resolv_conf("").at(0).address.to_string(), "127.0.0.1:53");
}

}  // namespace
}  // namespace oyat::egress
