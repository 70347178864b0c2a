#include "keeperlink/packet_socket.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "base/throwing.hpp"
#include "io/address.hpp"
#include "wire/keeper_messages.hpp"

namespace oyat::keeperlink {
namespace {

constexpr std::size_t kMaxQueued = 4096;

std::vector<Fd> take_descriptors(msghdr& message) {
    std::vector<Fd> fds;
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t i = 0; i < count; ++i) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof fd);
            fds.emplace_back(fd);
        }
    }
    return fds;
}

}  // namespace

Fd PacketSocket::connect(const std::string& path) {
    const SocketAddress address = or_throw(SocketAddress::unix_path(path));
    Fd socket{
        sys(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), "make a packet socket")};
    sys(::connect(socket.get(), address.data(), address.size()), "connect to " + path);
    return socket;
}

Task<PacketSocket::Packet> PacketSocket::receive() {
    buffer_.resize(wire::kMaxKeeperPacket);
    while (true) {
        alignas(cmsghdr) char control[CMSG_SPACE(wire::kMaxKeeperFds * sizeof(int))];
        iovec part{.iov_base = buffer_.data(), .iov_len = buffer_.size()};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        const ssize_t got = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
        if (got < 0 && errno == EAGAIN) {
            co_await socket_.readable();
            continue;
        }
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw errno_error(errno, "read from the keeper");
        Packet packet{.bytes = {}, .fds = take_descriptors(message)};
        if (got == 0) throw Error{Errc::unavailable, Fault::engine, "the keeper closed the connection"};
        if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
            throw Error{Errc::invalid_argument, Fault::engine, "a packet of the keeper was cut off"};
        }
        packet.bytes.assign(buffer_.data(), static_cast<std::size_t>(got));
        co_return packet;
    }
}

bool PacketSocket::send_now(const Outgoing& packet) {
    alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
    iovec part{.iov_base = const_cast<char*>(packet.bytes.data()), .iov_len = packet.bytes.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    if (packet.fd) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        cmsghdr* const rights = CMSG_FIRSTHDR(&message);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof(int));
        const int fd = packet.fd.get();
        std::memcpy(CMSG_DATA(rights), &fd, sizeof fd);
    }
    while (true) {
        if (::sendmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_NOSIGNAL) >= 0) return true;
        if (errno == EAGAIN) return false;
        if (errno != EINTR) throw errno_error(errno, "write to the keeper");
    }
}

void PacketSocket::send(std::string bytes, Fd fd) {
    Outgoing packet{.bytes = std::move(bytes), .fd = std::move(fd)};
    if (queue_.empty() && send_now(packet)) return;
    if (queue_.size() >= kMaxQueued) {
        throw Error{Errc::exhausted, Fault::engine, "the keeper does not read what it is asked"};
    }
    queue_.push_back(std::move(packet));
    queued_.notify_one();
}

Task<> PacketSocket::keep_sending() {
    while (!closed_) {
        if (queue_.empty()) {
            co_await queued_.wait();
        } else if (send_now(queue_.front())) {
            queue_.pop_front();
        } else {
            co_await socket_.writable();
        }
    }
}

void PacketSocket::close() noexcept {
    closed_ = true;
    socket_.close();
    queued_.notify_all();
}

}  // namespace oyat::keeperlink
