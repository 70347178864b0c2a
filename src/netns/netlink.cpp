#include "netns/netlink.hpp"

#include <arpa/inet.h>
#include <endian.h>
#include <linux/netlink.h>
#include <sys/socket.h>

#include <array>
#include <cstring>

#include "base/assert.hpp"
#include "base/fd.hpp"
#include "base/throwing.hpp"

namespace oyat::netns {

void NetlinkBatch::append(const void* data, std::size_t size) {
    const auto* first = static_cast<const std::byte*>(data);
    bytes_.insert(bytes_.end(), first, first + size);
}

void NetlinkBatch::pad() {
    bytes_.resize(NLMSG_ALIGN(bytes_.size()));
}

void NetlinkBatch::begin(std::uint16_t type, std::uint16_t flags, std::span<const std::byte> family_header) {
    message_ = bytes_.size();
    nlmsghdr header{};
    header.nlmsg_type = type;
    header.nlmsg_flags = flags | NLM_F_REQUEST;
    header.nlmsg_seq = ++sequence_;
    append(&header, sizeof header);
    append(family_header.data(), family_header.size());
    pad();
}

void NetlinkBatch::end() {
    const auto length = static_cast<std::uint32_t>(bytes_.size() - message_);
    std::memcpy(bytes_.data() + message_ + offsetof(nlmsghdr, nlmsg_len), &length, sizeof length);
}

void NetlinkBatch::attr(std::uint16_t type, std::span<const std::byte> value) {
    const nlattr header{.nla_len = static_cast<std::uint16_t>(NLA_HDRLEN + value.size()), .nla_type = type};
    append(&header, sizeof header);
    append(value.data(), value.size());
    pad();
}

void NetlinkBatch::attr(std::uint16_t type, std::uint32_t value) {
    attr(type, bytes_of(value));
}

void NetlinkBatch::attr_be(std::uint16_t type, std::uint32_t value) {
    attr(type, ::htonl(value));
}

void NetlinkBatch::attr_be64(std::uint16_t type, std::uint64_t value) {
    attr(type, bytes_of(::htobe64(value)));
}

void NetlinkBatch::attr_text(std::uint16_t type, std::string_view text) {
    std::vector<std::byte> value(text.size() + 1);
    std::memcpy(value.data(), text.data(), text.size());
    attr(type, value);
}

void NetlinkBatch::raw(std::span<const std::byte> bytes) {
    append(bytes.data(), bytes.size());
    pad();
}

std::size_t NetlinkBatch::open(std::uint16_t type) {
    const std::size_t opened = bytes_.size();
    const nlattr header{.nla_len = 0, .nla_type = static_cast<std::uint16_t>(type | NLA_F_NESTED)};
    append(&header, sizeof header);
    return opened;
}

void NetlinkBatch::close(std::size_t opened) {
    const std::size_t length = bytes_.size() - opened;
    OYAT_ASSERT(length <= UINT16_MAX);
    const auto stored = static_cast<std::uint16_t>(length);
    std::memcpy(bytes_.data() + opened + offsetof(nlattr, nla_len), &stored, sizeof stored);
}

void send_netlink(int protocol, const NetlinkBatch& batch, std::uint32_t acks) {
    const Fd socket{sys(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol), "open netlink socket")};
    const sockaddr_nl kernel{.nl_family = AF_NETLINK};
    sys(::sendto(socket.get(), batch.bytes().data(), batch.bytes().size(), 0,
                 reinterpret_cast<const sockaddr*>(&kernel), sizeof kernel),
        "send to netlink");
    // The kernel has worked through the row and queued its answers by the time that sendto returns, so a
    // receive that would block means an answer is missing.
    while (acks > 0) {
        alignas(nlmsghdr) std::array<std::byte, 8192> answer{};
        const ssize_t received =
            sys(::recv(socket.get(), answer.data(), answer.size(), MSG_DONTWAIT), "netlink answer");
        int left = static_cast<int>(received);
        for (auto* m = reinterpret_cast<nlmsghdr*>(answer.data()); NLMSG_OK(m, static_cast<unsigned>(left));
             m = NLMSG_NEXT(m, left)) {
            if (m->nlmsg_type != NLMSG_ERROR) continue;
            const auto* verdict = static_cast<const nlmsgerr*>(NLMSG_DATA(m));
            if (verdict->error != 0) {
                throw errno_error(-verdict->error,
                                  "netlink message " + std::to_string(verdict->msg.nlmsg_seq));
            }
            if (acks > 0) --acks;
        }
    }
}

}  // namespace oyat::netns
