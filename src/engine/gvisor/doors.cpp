#include "engine/gvisor/doors.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/throwing.hpp"

namespace oyat::gvisor {
namespace {

constexpr const char* kSocket = "agent";
constexpr int kBacklog = 4;
constexpr int kWaitMs = 400;  // twice the longest pause between an agent's tries

Fd listen_in(int directory) {
    struct stat facts{};
    sys(::fstat(directory, &facts), "stat the door");
    if (::unlinkat(directory, kSocket, 0) != 0 && errno != ENOENT)
        throw errno_error(errno, "remove the old door");
    Fd listener{sys(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket")};
    sockaddr_un address{.sun_family = AF_UNIX};
    const std::string path = "/proc/self/fd/" + std::to_string(directory) + "/" + kSocket;
    std::ranges::copy(path, address.sun_path);
    sys(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), "bind");
    sys(::fchownat(directory, kSocket, facts.st_uid, facts.st_gid, AT_SYMLINK_NOFOLLOW),
        "give the door away");
    sys(::listen(listener.get(), kBacklog), "listen");
    return listener;
}

Fd newest(int listener) {
    Fd last;
    for (int i = 0; i <= kBacklog; ++i) {
        Fd next{::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
        if (!next) break;
        last = std::move(next);
    }
    return last;
}

}  // namespace

void Doors::open(std::string_view id) {
    in("open the door of " + std::string{id}, [&] {
        const Fd directory = homes_.door(id);
        doors_.insert_or_assign(std::string{id},
                                Door{.listener = listen_in(directory.get()), .answered = {}});
    });
}

Doors::Door& Doors::door(std::string_view id) {
    if (!doors_.contains(id)) open(id);
    return doors_.find(id)->second;
}

int Doors::listener(std::string_view id) {
    return door(id).listener.get();
}

Fd Doors::answer(std::string_view id) {
    Door& at = door(id);
    if (at.answered) ::shutdown(at.answered.get(), SHUT_RDWR);
    at.answered.reset();
    Fd connection = newest(at.listener.get());
    pollfd knock{at.listener.get(), POLLIN, 0};
    if (!connection && ::poll(&knock, 1, kWaitMs) == 1) connection = newest(at.listener.get());
    if (!connection) throw Error{Errc::unavailable, Fault::engine, "the sandbox's agent does not answer"};
    at.answered.reset(sys(::fcntl(connection.get(), F_DUPFD_CLOEXEC, 0), "copy a connection"));
    return connection;
}

void Doors::close(std::string_view id) noexcept {
    const auto found = doors_.find(id);
    if (found == doors_.end()) return;
    if (found->second.answered) ::shutdown(found->second.answered.get(), SHUT_RDWR);
    doors_.erase(found);
}

}  // namespace oyat::gvisor
