#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/throwing.hpp"
#include "wire/keeper_messages.hpp"

// Somebody who speaks to a keeper as oyatd would. For tests only.
namespace oyat::keeper::test {

struct Answer {
    wire::KeeperReply reply;
    std::vector<Fd> fds;
};

class Client {
public:
    explicit Client(const std::string& path) : socket_{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)} {
        sockaddr_un address{.sun_family = AF_UNIX};
        std::ranges::copy(path, address.sun_path);
        sys(::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "connect");
    }

    // Sends the request and waits for its answer; events that come first are kept.
    Answer ask(wire::KeeperRequest request, const std::vector<int>& fds = {}) {
        request.id = ++last_id_;
        send(wire::encode(request), fds);
        for (;;) {
            Answer answer = receive();
            if (answer.reply.id == request.id) return answer;
            if (answer.reply.event) events.push_back(*answer.reply.event);
        }
    }

    // Waits until an event of that kind has come.
    wire::KeeperEvent wait_for(wire::EventKind kind) {
        for (;;) {
            const auto found = std::ranges::find(events, kind, &wire::KeeperEvent::kind);
            if (found != events.end()) return *found;
            Answer answer = receive();
            if (answer.reply.event) events.push_back(*answer.reply.event);
        }
    }

    void send(const std::string& bytes, const std::vector<int>& fds = {}) {
        iovec part{const_cast<char*>(bytes.data()), bytes.size()};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        std::vector<char> space(CMSG_SPACE(fds.size() * sizeof(int)));
        if (!fds.empty()) {
            message.msg_control = space.data();
            message.msg_controllen = space.size();
            cmsghdr* header = CMSG_FIRSTHDR(&message);
            header->cmsg_level = SOL_SOCKET;
            header->cmsg_type = SCM_RIGHTS;
            header->cmsg_len = CMSG_LEN(fds.size() * sizeof(int));
            std::memcpy(CMSG_DATA(header), fds.data(), fds.size() * sizeof(int));
        }
        sys(::sendmsg(socket_.get(), &message, MSG_NOSIGNAL), "send");
    }

    // Throws `unavailable` when the keeper has closed the connection.
    Answer receive() {
        std::string buffer(wire::kMaxKeeperPacket, '\0');
        std::array<char, CMSG_SPACE(sizeof(int) * wire::kMaxKeeperFds)> space{};
        iovec part{buffer.data(), buffer.size()};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        message.msg_control = space.data();
        message.msg_controllen = space.size();
        pollfd wait{socket_.get(), POLLIN, 0};
        if (::poll(&wait, 1, 20'000) != 1) throw Error{Errc::deadline, "the keeper does not answer"};
        const ssize_t n = ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC);
        if (n <= 0) throw Error{Errc::unavailable, "the keeper closed the connection"};
        Answer answer;
        answer.reply =
            or_throw(wire::decode<wire::KeeperReply>({buffer.data(), static_cast<std::size_t>(n)}));
        for (cmsghdr* header = CMSG_FIRSTHDR(&message); header != nullptr;
             header = CMSG_NXTHDR(&message, header)) {
            const std::size_t count = (header->cmsg_len - CMSG_LEN(0)) / sizeof(int);
            for (std::size_t at = 0; at < count; ++at) {
                int fd = -1;
                std::memcpy(&fd, CMSG_DATA(header) + (at * sizeof fd), sizeof fd);
                answer.fds.emplace_back(fd);
            }
        }
        return answer;
    }

    std::vector<wire::KeeperEvent> events;

private:
    Fd socket_;
    std::uint64_t last_id_ = 0;
};

inline wire::KeeperRequest create_order(const std::string& digest, wire::BoxLimits limits = {}) {
    return {.create = wire::CreateBox{.template_digest = digest, .limits = limits, .owner_tag = "test"}};
}
inline wire::KeeperRequest kill_order(const std::string& id) {
    return {.kill = wire::KillBox{.id = id}};
}
inline wire::KeeperRequest info_order() {
    return {.info = wire::GetInfo{}};
}

// How a reply tells of a failure.
inline std::uint32_t code(Errc errc) {
    return static_cast<std::uint32_t>(errc) + 1;
}

}  // namespace oyat::keeper::test
