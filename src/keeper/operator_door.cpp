#include "keeper/operator_door.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/log.hpp"
#include "base/throwing.hpp"

namespace oyat::keeper {
namespace {

constexpr const char* kName = "operator.sock";
constexpr int kBacklog = 4;
constexpr std::size_t kMostVisitors = 16;
constexpr std::size_t kMaxRequest = 32 * 1024;  // a thousand ids

// A state may lie deeper than a socket's address is long: the directory is named by its descriptor.
Fd listen_in(const std::string& directory) {
    const Fd dir{sys(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open " + directory)};
    const std::string path = "/proc/self/fd/" + std::to_string(dir.get()) + "/" + kName;
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::ranges::copy(path, address.sun_path);
    Fd listener{sys(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "make the socket")};
    ::unlinkat(dir.get(), kName, 0);
    const mode_t old = ::umask(0177);
    const int bound = ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address);
    const int error = errno;
    ::umask(old);
    if (bound != 0) throw errno_error(error, "bind " + directory + "/" + kName);
    sys(::listen(listener.get(), kBacklog), "listen");
    return listener;
}

bool is_for_operators(const wire::KeeperRequest& request) {
    return request.brake || request.brakes || request.kill || request.list;
}

}  // namespace

OperatorDoor::OperatorDoor(Loop& loop, std::string directory, Handler on_request)
    : loop_{loop},
      path_{directory + "/" + kName},
      on_request_{std::move(on_request)},
      listener_{listen_in(directory)} {
    loop_.watch(listener_.get(), [this](std::uint32_t) { accept_one(); });
}

OperatorDoor::~OperatorDoor() {
    while (!visitors_.empty()) see_off(visitors_.begin()->first);
    loop_.forget(listener_.get());
    ::unlink(path_.c_str());
}

void OperatorDoor::accept_one() {
    Fd peer{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
    if (!peer) return;
    ucred who{};
    socklen_t length = sizeof who;
    if (::getsockopt(peer.get(), SOL_SOCKET, SO_PEERCRED, &who, &length) != 0 || who.uid != 0 ||
        visitors_.size() >= kMostVisitors) {
        log::warn("refused a connection at the operator's door", {{"uid", who.uid}, {"pid", who.pid}});
        return;
    }
    const int fd = peer.get();
    visitors_.emplace(fd, Visitor{.socket = std::move(peer), .visit = ++last_visit_});
    loop_.watch(fd, [this, fd](std::uint32_t) { read_request(fd); });
}

void OperatorDoor::read_request(int peer) {
    std::array<char, kMaxRequest> bytes;
    const ssize_t n = ::recv(peer, bytes.data(), bytes.size(), MSG_TRUNC);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    Visitor& visitor = visitors_.at(peer);
    if (n <= 0 || static_cast<std::size_t>(n) > bytes.size() || std::exchange(visitor.asked, true)) {
        return see_off(peer);
    }
    const Result<wire::KeeperRequest> request =
        wire::decode<wire::KeeperRequest>({bytes.data(), static_cast<std::size_t>(n)});
    if (!request || !wire::is_one_order(*request) || !is_for_operators(*request)) return see_off(peer);
    on_request_(*request, [this, peer, visit = visitor.visit](const wire::KeeperReply& reply) {
        answer(peer, visit, reply);
    });
}

void OperatorDoor::answer(int peer, std::uint64_t visit, const wire::KeeperReply& reply) {
    const auto found = visitors_.find(peer);
    if (found == visitors_.end() || found->second.visit != visit) return;
    const std::string bytes = wire::encode(reply);
    // It was empty so far, and one packet fits; a visitor that does not get it asks again.
    [[maybe_unused]] const ssize_t sent = ::send(peer, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    see_off(peer);
}

void OperatorDoor::see_off(int peer) {
    loop_.forget(peer);
    visitors_.erase(peer);
}

}  // namespace oyat::keeper
