#include "keeper/control_socket.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "base/log.hpp"
#include "base/throwing.hpp"

namespace oyat::keeper {
namespace {

constexpr int kBacklog = 16;
constexpr int kPacketsAtOnce = 32;        // then others get their turn
constexpr std::size_t kMaxUnsent = 4096;  // an oyatd that reads nothing is gone

using FdSpace = std::array<char, CMSG_SPACE(sizeof(int) * wire::kMaxKeeperFds)>;

Fd listen_at(const ControlSocket::Options& options) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (options.path.size() >= sizeof address.sun_path) {
        throw Error{Errc::invalid_argument, Fault::oyat_operator,
                    "the run directory's path is too long for a socket"};
    }
    std::ranges::copy(options.path, address.sun_path);
    Fd listener{sys(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "make the socket")};
    ::unlink(options.path.c_str());
    const mode_t old = ::umask(0177);  // not connectable before owner and mode are right
    const int bound = ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    const int error = errno;
    ::umask(old);
    if (bound != 0) throw errno_error(error, "bind " + options.path);
    sys(::chown(options.path.c_str(), 0, options.group), "give the socket to its group");
    sys(::chmod(options.path.c_str(), 0660), "open the socket to its group");
    sys(::listen(listener.get(), kBacklog), "listen");
    return listener;
}

std::vector<Fd> take_fds(msghdr& message) {
    std::vector<Fd> fds;
    for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
        if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
        const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (std::size_t at = 0; at < count; ++at) {
            int fd = -1;
            std::memcpy(&fd, CMSG_DATA(part) + (at * sizeof fd), sizeof fd);
            fds.emplace_back(fd);
        }
    }
    return fds;
}

}  // namespace

std::size_t fds_wanted(const wire::KeeperRequest& request) noexcept {
    return request.import_template || request.export_template || request.search_packages ? 1 : 0;
}

void ControlSocket::serve(const Options& options, RequestHandler on_request) {
    path_ = options.path;
    oyatd_ = options.oyatd;
    on_request_ = std::move(on_request);
    buffer_.resize(wire::kMaxKeeperPacket);
    listener_ = listen_at(options);
    loop_.watch(listener_.get(), [this](std::uint32_t) { accept_one(); });
}

ControlSocket::~ControlSocket() {
    drop_client("the keeper stops");
    if (!listener_) return;
    loop_.forget(listener_.get());
    ::unlink(path_.c_str());
}

void ControlSocket::accept_one() {
    Fd peer{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!peer) return;
    ucred who{};
    socklen_t length = sizeof who;
    if (::getsockopt(peer.get(), SOL_SOCKET, SO_PEERCRED, &who, &length) != 0 ||
        (who.uid != 0 && who.uid != oyatd_)) {
        log::warn("refused a connection to the keeper", {{"uid", who.uid}, {"pid", who.pid}});
        return;
    }
    if (client_) drop_client("a newer oyatd connected");
    client_ = std::move(peer);
    ++client_id_;
    loop_.watch(client_.get(), [this](std::uint32_t events) {
        if ((events & EPOLLOUT) != 0) flush();
        if (client_ && (events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) read_some();
    });
    log::info("oyatd connected", {{"pid", who.pid}});
}

void ControlSocket::read_some() {
    for (int packets = 0; packets < kPacketsAtOnce && client_; ++packets) {
        if (!read_packet()) return;
    }
}

// False when nothing more is there, or the connection ended.
bool ControlSocket::read_packet() {
    FdSpace space{};
    iovec part{buffer_.data(), buffer_.size()};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = space.data();
    message.msg_controllen = space.size();
    const ssize_t n = ::recvmsg(client_.get(), &message, MSG_CMSG_CLOEXEC);
    if (n < 0) {
        if (errno != EAGAIN && errno != EINTR) drop_client("it failed");
        return false;
    }
    std::vector<Fd> fds = take_fds(message);
    if (n == 0) {
        drop_client("it closed");
        return false;
    }
    if ((message.msg_flags & (MSG_TRUNC | MSG_CTRUNC)) != 0) {
        drop_client("a packet was too large");
        return false;
    }
    Result<wire::KeeperRequest> request =
        wire::decode<wire::KeeperRequest>({buffer_.data(), static_cast<std::size_t>(n)});
    if (!request || !wire::is_one_order(*request)) {
        drop_client("a packet was malformed");
        return false;
    }
    if (fds.size() != fds_wanted(*request)) {
        wire::KeeperReply refusal{.id = request->id,
                                  .code = static_cast<std::uint32_t>(Errc::invalid_argument) + 1};
        refusal.message = "the request came with " + std::to_string(fds.size()) + " descriptors";
        reply(client_id_, refusal);
        return true;
    }
    on_request_(client_id_, *std::move(request), std::move(fds));
    return true;
}

void ControlSocket::reply(ClientId to, const wire::KeeperReply& reply, std::vector<Fd> fds) {
    if (to != client_id_ || !client_) return;
    send({wire::encode(reply), std::move(fds)});
}

void ControlSocket::event(const wire::KeeperEvent& event) {
    if (!client_) return;
    wire::KeeperReply unsolicited;
    unsolicited.event = event;
    send({wire::encode(unsolicited), {}});
}

void ControlSocket::send(Packet packet) {
    if (unsent_.size() >= kMaxUnsent) {
        drop_client("it does not read");
        return;
    }
    unsent_.push_back(std::move(packet));
    flush();
}

void ControlSocket::flush() {
    while (client_ && !unsent_.empty()) {
        Packet& packet = unsent_.front();
        FdSpace space{};
        iovec part{packet.bytes.data(), packet.bytes.size()};
        msghdr message{};
        message.msg_iov = &part;
        message.msg_iovlen = 1;
        if (!packet.fds.empty()) {
            const std::size_t bytes = packet.fds.size() * sizeof(int);
            message.msg_control = space.data();
            message.msg_controllen = CMSG_SPACE(bytes);
            cmsghdr* header = CMSG_FIRSTHDR(&message);
            header->cmsg_level = SOL_SOCKET;
            header->cmsg_type = SCM_RIGHTS;
            header->cmsg_len = CMSG_LEN(bytes);
            for (std::size_t at = 0; at < packet.fds.size(); ++at) {
                const int fd = packet.fds[at].get();
                std::memcpy(CMSG_DATA(header) + (at * sizeof fd), &fd, sizeof fd);
            }
        }
        if (::sendmsg(client_.get(), &message, MSG_NOSIGNAL) < 0) {
            if (errno == EAGAIN) {
                loop_.change(client_.get(), EPOLLIN | EPOLLOUT);
                return;
            }
            drop_client("it failed");
            return;
        }
        unsent_.pop_front();
        if (unsent_.empty()) loop_.change(client_.get(), EPOLLIN);
    }
}

void ControlSocket::drop_client(const char* why) noexcept {
    if (!client_) return;
    log::info("oyatd's connection ended", {{"why", why}});
    loop_.forget(client_.get());
    client_.reset();
    unsent_.clear();
}

}  // namespace oyat::keeper
