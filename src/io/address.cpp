#include "io/address.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/throwing.hpp"

namespace oyat {
namespace {

// From linux/netfilter_ipv4.h and linux/netfilter_ipv6/ip6_tables.h, which clash with the headers of libc.
constexpr int kSoOriginalDst = 80;

const sockaddr_in& as_v4(const sockaddr_storage& storage) {
    return reinterpret_cast<const sockaddr_in&>(storage);
}
const sockaddr_in6& as_v6(const sockaddr_storage& storage) {
    return reinterpret_cast<const sockaddr_in6&>(storage);
}

template <class Address>
SocketAddress make(const Address& address) {
    return {reinterpret_cast<const sockaddr*>(&address), sizeof address};
}

template <class Call>
SocketAddress ask(Call call, std::string_view what) {
    sockaddr_storage storage{};
    socklen_t length = sizeof storage;
    sys(call(reinterpret_cast<sockaddr*>(&storage), &length), what);
    return {reinterpret_cast<const sockaddr*>(&storage), length};
}

}  // namespace

SocketAddress::SocketAddress(const sockaddr* address, socklen_t length)
    : length_{std::min<socklen_t>(length, sizeof storage_)} {
    std::memcpy(&storage_, address, length_);
}

Result<SocketAddress> SocketAddress::ip(std::string_view address, std::uint16_t port) {
    const std::string text{address};
    sockaddr_in v4{.sin_family = AF_INET, .sin_port = htons(port)};
    if (::inet_pton(AF_INET, text.c_str(), &v4.sin_addr) == 1) return make(v4);
    sockaddr_in6 v6{.sin6_family = AF_INET6, .sin6_port = htons(port)};
    if (::inet_pton(AF_INET6, text.c_str(), &v6.sin6_addr) == 1) return make(v6);
    return refuse(Errc::invalid_argument, "not an IP address");
}

Result<SocketAddress> SocketAddress::unix_path(std::string_view path) {
    sockaddr_un address{.sun_family = AF_UNIX};
    if (path.empty() || path.size() >= sizeof address.sun_path || path.find('\0') != path.npos) {
        return refuse(Errc::invalid_argument, "a socket path has 1 to 107 bytes");
    }
    std::ranges::copy(path, address.sun_path);
    return make(address);
}

std::string SocketAddress::host() const {
    std::array<char, INET6_ADDRSTRLEN> text{};
    if (family() == AF_INET) {
        return ::inet_ntop(AF_INET, &as_v4(storage_).sin_addr, text.data(), text.size());
    }
    if (family() == AF_INET6) {
        const in6_addr& v6 = as_v6(storage_).sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(&v6)) return ::inet_ntop(AF_INET, &v6.s6_addr[12], text.data(), text.size());
        return ::inet_ntop(AF_INET6, &v6, text.data(), text.size());
    }
    return "unix";
}

std::uint16_t SocketAddress::port() const noexcept {
    if (family() == AF_INET) return ntohs(as_v4(storage_).sin_port);
    if (family() == AF_INET6) return ntohs(as_v6(storage_).sin6_port);
    return 0;
}

std::string SocketAddress::to_string() const {
    std::string text = host();
    if (family() != AF_INET && family() != AF_INET6) return text;
    if (text.find(':') != text.npos) text.insert(0, 1, '[').push_back(']');
    return text + ":" + std::to_string(port());
}

bool operator==(const SocketAddress& a, const SocketAddress& b) noexcept {
    return a.length_ == b.length_ && std::memcmp(&a.storage_, &b.storage_, a.length_) == 0;
}

SocketAddress local_address(int socket) {
    return ask([socket](sockaddr* to, socklen_t* length) { return ::getsockname(socket, to, length); },
               "local address of a socket");
}

SocketAddress peer_address(int socket) {
    return ask([socket](sockaddr* to, socklen_t* length) { return ::getpeername(socket, to, length); },
               "peer address of a socket");
}

std::optional<SocketAddress> original_destination(int socket) {
    sockaddr_storage storage{};
    socklen_t length = sizeof storage;
    for (const int level : {SOL_IP, SOL_IPV6}) {
        if (::getsockopt(socket, level, kSoOriginalDst, &storage, &length) == 0) {
            return SocketAddress{reinterpret_cast<const sockaddr*>(&storage), length};
        }
    }
    return std::nullopt;
}

}  // namespace oyat
