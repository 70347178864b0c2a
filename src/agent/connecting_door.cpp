#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>

#include "agent/door.hpp"
#include "agent/host_link.hpp"

namespace oyat::agent {
namespace {

// A restored sandbox is to be reached at once, and an agent whose host is away for long must not keep a
// processor awake. So it is patient only when it does not wait for a restore.
constexpr std::int64_t kFirstWaitMs = 10;
constexpr std::int64_t kLongestWaitMs = 200;

class ConnectingDoor final : public Door {
public:
    ConnectingDoor(Loop& loop, std::string path, HostLink& link)
        : path_{std::move(path)}, link_{link}, again_{loop, [this] { try_once(); }} {
        again_.start(0);
    }

    void gone(bool) override {
        wait_ms_ = kFirstWaitMs;
        again_.start(wait_ms_);
    }

private:
    void try_once() {
        sockaddr_un address{};
        address.sun_family = AF_UNIX;
        path_.copy(address.sun_path, sizeof address.sun_path - 1);
        Fd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
        if (socket && ::connect(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) == 0) {
            return link_.meet(std::move(socket));
        }
        again_.start(wait_ms_);
        if (!link_.stands_still()) wait_ms_ = std::min(2 * wait_ms_, kLongestWaitMs);
    }

    std::string path_;
    HostLink& link_;
    Timer again_;
    std::int64_t wait_ms_ = kFirstWaitMs;
};

}  // namespace

std::unique_ptr<Door> connect_to_host(Loop& loop, std::string path, HostLink& link) {
    return std::make_unique<ConnectingDoor>(loop, std::move(path), link);
}

}  // namespace oyat::agent
