#include <fcntl.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "agent/door.hpp"
#include "agent/host_link.hpp"

namespace oyat::agent {
namespace {

// While no host is there the port is always ready, with a hang-up: so it is watched for changes only.
class PortDoor final : public Door {
public:
    PortDoor(Loop& loop, Fd port, HostLink& link)
        : loop_{loop},
          port_{std::move(port)},
          link_{link},
          changes_{loop, [this](std::uint32_t events) { changed(events); }} {
        watch();
    }

    // What the host had still sent on a connection that is over is nobody's.
    void gone(bool finished) override {
        if (finished) {
            // Nothing is lost by waiting: a machine may be saved right here, and the next host have knocked.
            host_stayed_ = true;
            return watch();
        }
        ssize_t got = 0;
        do got = ::read(port_.get(), loop_.scratch(), Loop::kScratch);
        while (got > 0);
        host_stayed_ = got < 0;
        watch();
    }

    [[nodiscard]] bool hangs_up() const override { return false; }

private:
    void watch() { changes_.arm(port_.get(), EPOLLIN | EPOLLOUT | EPOLLET); }

    void changed(std::uint32_t events) {
        if ((events & EPOLLHUP) != 0) {
            host_stayed_ = false;
            return;
        }
        // A host that we have hung up on is not greeted again, unless it knocks.
        if (host_stayed_ && (events & EPOLLIN) == 0) return;
        Fd connection{::fcntl(port_.get(), F_DUPFD_CLOEXEC, 3)};
        if (!connection) return;
        changes_.disarm();
        link_.meet(std::move(connection),
                   host_stayed_ ? HostLink::Greeting::when_asked : HostLink::Greeting::now);
    }

    Loop& loop_;
    Fd port_;
    HostLink& link_;
    Readiness changes_;
    bool host_stayed_ = false;
};

}  // namespace

std::unique_ptr<Door> wait_at_port(Loop& loop, Fd port, HostLink& link) {
    return std::make_unique<PortDoor>(loop, std::move(port), link);
}

}  // namespace oyat::agent
