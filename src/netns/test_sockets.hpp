#pragma once

#include <arpa/inet.h>
#include <linux/netfilter_ipv4.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "base/assert.hpp"
#include "base/fd.hpp"
#include "base/throwing.hpp"
#include "netns/visit.hpp"

// What programs in a sandbox's network and the proxy do, for the tests of both sides.
namespace oyat::netns::test {

inline sockaddr_in address(const char* text, std::uint16_t port) {
    sockaddr_in made{.sin_family = AF_INET, .sin_port = ::htons(port)};
    OYAT_ASSERT(::inet_pton(AF_INET, text, &made.sin_addr) == 1);
    return made;
}

inline std::string text(const sockaddr_in& address) {
    std::array<char, INET_ADDRSTRLEN> host{};
    ::inet_ntop(AF_INET, &address.sin_addr, host.data(), host.size());
    return std::string{host.data()} + ":" + std::to_string(::ntohs(address.sin_port));
}

// A blocking socket as a program inside would make it; its waits end after two seconds.
inline Fd socket_inside(int netns, int family, int type, int protocol = 0) {
    const Visit visit{netns};
    Fd made{sys(::socket(family, type | SOCK_CLOEXEC, protocol), "socket")};
    const timeval limit{.tv_sec = 2};
    ::setsockopt(made.get(), SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    ::setsockopt(made.get(), SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    return made;
}

template <class Address>
int connect_error(int socket, const Address& to) {
    return ::connect(socket, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 0 ? 0 : errno;
}

template <class Address>
int send_error(int socket, const Address& to) {
    return ::sendto(socket, "?", 1, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to) == 1 ? 0 : errno;
}

inline Fd accept_one(int listener) {
    pollfd ready{.fd = listener, .events = POLLIN, .revents = 0};
    if (::poll(&ready, 1, 2000) != 1) return {};
    return Fd{::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC)};
}

inline std::string original_destination(int accepted) {
    sockaddr_in to{};
    socklen_t length = sizeof to;
    sys(::getsockopt(accepted, SOL_IP, SO_ORIGINAL_DST, &to, &length), "SO_ORIGINAL_DST");
    return text(to);
}

}  // namespace oyat::netns::test
