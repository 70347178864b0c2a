#include "egress/resolver.hpp"

#include <charconv>
#include <optional>
#include <sstream>

#include "base/throwing.hpp"

namespace oyat::egress {
namespace {

using Transport = Resolver::Transport;

constexpr std::uint16_t kDnsPort = 53, kTlsPort = 853;
constexpr std::size_t kMaxListed = 3;  // resolv.conf(5), MAXNS

struct Scheme {
    std::string_view prefix;
    Transport transport;
};
constexpr Scheme kSchemes[] = {
    {"udp://", Transport::datagram}, {"tcp://", Transport::stream}, {"tls://", Transport::tls}};

std::optional<std::uint16_t> parse_port(std::string_view digits) {
    std::uint16_t port = 0;
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    if (failed != std::errc{} || end != digits.data() + digits.size() || port == 0) return std::nullopt;
    return port;
}

// "192.0.2.53", "192.0.2.53:5353", "fd00::53", "[fd00::53]", "[fd00::53]:5353".
std::optional<SocketAddress> parse_address(std::string_view text, std::uint16_t usual_port) {
    std::uint16_t port = usual_port;
    std::string_view host = text;
    const std::size_t colon = text.rfind(':');
    const bool bracketed = text.starts_with('[');
    const bool with_port = colon != std::string_view::npos &&
                           (bracketed ? colon > 0 && text[colon - 1] == ']' : text.find(':') == colon);
    if (with_port) {
        const std::optional<std::uint16_t> given = parse_port(text.substr(colon + 1));
        if (!given) return std::nullopt;
        port = *given;
        host = text.substr(0, colon);
    }
    if (bracketed) {
        if (!host.ends_with(']')) return std::nullopt;
        host = host.substr(1, host.size() - 2);
    }
    Result<SocketAddress> address = SocketAddress::ip(host, port);
    if (!address) return std::nullopt;
    return *address;
}

}  // namespace

Result<Resolver> Resolver::parse(std::string_view text) {
    const auto no = [text](std::string_view why) {
        return refuse(Errc::invalid_argument, "'" + std::string{text} + "' " + std::string{why});
    };
    Resolver resolver;
    std::string_view rest = text;
    for (const Scheme& scheme : kSchemes) {
        if (!text.starts_with(scheme.prefix)) continue;
        resolver.transport = scheme.transport;
        rest.remove_prefix(scheme.prefix.size());
    }
    const std::size_t hash = rest.find('#');
    if ((hash != std::string_view::npos) != (resolver.transport == Transport::tls)) {
        return no(
            "wants a name after the address, as in tls://192.0.2.53#dns.example, for TLS and only then");
    }
    if (hash != std::string_view::npos) {
        resolver.name = rest.substr(hash + 1);
        if (resolver.name.empty()) return no("has no name for the certificate");
        rest = rest.substr(0, hash);
    }
    const auto address = parse_address(rest, resolver.transport == Transport::tls ? kTlsPort : kDnsPort);
    if (!address) return no("is not the address of a resolver");
    resolver.address = *address;
    return resolver;
}

std::vector<Resolver> parse_resolv_conf(std::string_view text) {
    std::vector<Resolver> resolvers;
    std::istringstream lines{std::string{text}};
    for (std::string line; std::getline(lines, line) && resolvers.size() < kMaxListed;) {
        std::istringstream words{line};
        std::string keyword, address;
        if (!(words >> keyword >> address) || keyword != "nameserver") continue;
        // "fe80::1%eth0" is left out: a scope means nothing to a socket address of ours.
        if (auto server = SocketAddress::ip(address, kDnsPort)) resolvers.push_back({.address = *server});
    }
    if (resolvers.empty())
        resolvers.push_back({.address = or_throw(SocketAddress::ip("127.0.0.1", kDnsPort))});
    return resolvers;
}

}  // namespace oyat::egress
