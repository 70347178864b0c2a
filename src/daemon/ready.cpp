#include "daemon/ready.hpp"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "base/fd.hpp"
#include "base/throwing.hpp"

namespace oyat::daemon {
namespace {

void write_line(int descriptor, const std::string& text) {
    const std::string line = text + "\n";
    sys(::write(descriptor, line.data(), line.size()), "say that we are ready");
}

// sd_notify(3) without its library: one datagram to the socket that the environment names.
void notify_systemd() {
    const char* name = std::getenv("NOTIFY_SOCKET");
    if (name == nullptr) return;
    const std::string_view path{name};
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    if (path.empty() || path.size() >= sizeof address.sun_path) return;
    std::ranges::copy(path, address.sun_path);
    if (path.front() == '@') address.sun_path[0] = '\0';
    const Fd socket{sys(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), "notify systemd")};
    constexpr std::string_view kReady = "READY=1";
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + path.size());
    sys(::sendto(socket.get(), kReady.data(), kReady.size(), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&address), length),
        "notify systemd");
}

}  // namespace

void announce_ready(int descriptor, const std::string& file, const std::string& url) {
    if (descriptor >= 0) write_line(descriptor, url);
    if (!file.empty()) {
        in("ready file " + file, [&] {
            const std::string fresh = file + ".new";
            {
                const Fd out{
                    sys(::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600),
                        "make")};
                write_line(out.get(), url);
            }
            sys(::rename(fresh.c_str(), file.c_str()), "rename");
        });
    }
    notify_systemd();
}

}  // namespace oyat::daemon
