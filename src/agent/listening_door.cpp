#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

#include "agent/door.hpp"
#include "agent/host_link.hpp"

namespace oyat::agent {
namespace {

class ListeningDoor final : public Door {
public:
    ListeningDoor(Loop& loop, Fd listener, HostLink& link)
        : listener_{std::move(listener)}, link_{link}, readiness_{loop, [this](std::uint32_t) { accept(); }} {
        readiness_.arm(listener_.get(), EPOLLIN);
    }

    void gone(bool) override {}

private:
    void accept() {
        Fd socket{::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
        if (socket) {
            link_.meet(std::move(socket));
        } else if (errno == EMFILE) {
            // Out of descriptors: those that serve the old host are the ones to go.
            link_.drop();
        }
    }

    Fd listener_;
    HostLink& link_;
    Readiness readiness_;
};

}  // namespace

std::unique_ptr<Door> listen_for_host(Loop& loop, Fd listener, HostLink& link) {
    return std::make_unique<ListeningDoor>(loop, std::move(listener), link);
}

}  // namespace oyat::agent
