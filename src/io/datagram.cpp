#include "io/datagram.hpp"

#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "base/throwing.hpp"

namespace oyat {
namespace {

constexpr std::size_t kControlBytes = 256;

std::optional<SocketAddress> destination_of(msghdr& message) {
    std::optional<SocketAddress> to;
    for (cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr; c = CMSG_NXTHDR(&message, c)) {
        if (c->cmsg_level == SOL_IP && c->cmsg_type == IP_RECVORIGDSTADDR) {
            sockaddr_in address{};
            std::memcpy(&address, CMSG_DATA(c), sizeof address);
            to.emplace(reinterpret_cast<const sockaddr*>(&address), sizeof address);
        } else if (c->cmsg_level == SOL_IPV6 && c->cmsg_type == IPV6_RECVORIGDSTADDR) {
            sockaddr_in6 address{};
            std::memcpy(&address, CMSG_DATA(c), sizeof address);
            to.emplace(reinterpret_cast<const sockaddr*>(&address), sizeof address);
        }
    }
    return to;
}

template <class Info>
void put_source(msghdr& message, std::span<std::byte> control, int level, int type, const Info& info) {
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(sizeof info);
    cmsghdr* header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = level;
    header->cmsg_type = type;
    header->cmsg_len = CMSG_LEN(sizeof info);
    std::memcpy(CMSG_DATA(header), &info, sizeof info);
}

}  // namespace

DatagramSocket::DatagramSocket(Executor executor, Fd socket)
    : socket_{std::move(executor), std::move(socket)} {
    const int on = 1;
    if (local_address(socket_.get()).family() == AF_INET6) {
        sys(::setsockopt(socket_.get(), SOL_IPV6, IPV6_RECVORIGDSTADDR, &on, sizeof on),
            "ask for destinations");
    } else {
        sys(::setsockopt(socket_.get(), SOL_IP, IP_RECVORIGDSTADDR, &on, sizeof on), "ask for destinations");
    }
}

Task<DatagramSocket::Received> DatagramSocket::recv_from(std::span<char> into) {
    for (;;) {
        if (socket_.get() < 0) throw Error{Errc::unavailable, "closed"};
        sockaddr_storage from{};
        iovec piece{.iov_base = into.data(), .iov_len = into.size()};
        alignas(cmsghdr) std::array<std::byte, kControlBytes> control{};
        msghdr message{.msg_name = &from,
                       .msg_namelen = sizeof from,
                       .msg_iov = &piece,
                       .msg_iovlen = 1,
                       .msg_control = control.data(),
                       .msg_controllen = control.size()};
        const ssize_t size = ::recvmsg(socket_.get(), &message, MSG_TRUNC);
        if (size >= 0) {
            co_return Received{.size = static_cast<std::size_t>(size),
                               .from = {reinterpret_cast<const sockaddr*>(&from), message.msg_namelen},
                               .to = destination_of(message)};
        }
        if (errno == EAGAIN) {
            co_await socket_.readable();
        } else if (errno != EINTR && errno != ECONNREFUSED) {
            // ECONNREFUSED tells that an earlier answer reached nobody, which is no reason to stop.
            throw errno_error(errno, "receive a datagram");
        }
    }
}

void DatagramSocket::send_to(std::string_view bytes, const SocketAddress& to,
                             const std::optional<SocketAddress>& source) {
    iovec piece{.iov_base = const_cast<char*>(bytes.data()), .iov_len = bytes.size()};
    alignas(cmsghdr) std::array<std::byte, kControlBytes> control{};
    msghdr message{.msg_name = const_cast<sockaddr*>(to.data()),
                   .msg_namelen = to.size(),
                   .msg_iov = &piece,
                   .msg_iovlen = 1};
    if (source && source->family() == AF_INET) {
        const auto* address = reinterpret_cast<const sockaddr_in*>(source->data());
        put_source(message, control, SOL_IP, IP_PKTINFO, in_pktinfo{.ipi_spec_dst = address->sin_addr});
    } else if (source && source->family() == AF_INET6) {
        const auto* address = reinterpret_cast<const sockaddr_in6*>(source->data());
        put_source(message, control, SOL_IPV6, IPV6_PKTINFO, in6_pktinfo{.ipi6_addr = address->sin6_addr});
    }
    // Whatever fails here, a datagram may be lost and its sender asks again.
    (void)::sendmsg(socket_.get(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace oyat
