#include "agent/host_link.hpp"

#include <sys/epoll.h>
#include <sys/socket.h>

#include <cerrno>

namespace oyat::agent {

HostLink::HostLink(Loop& loop, Fd listener, RequestHandler& handler, std::uint64_t generation)
    : loop_{loop},
      listener_{std::move(listener)},
      handler_{handler},
      generation_{generation},
      readiness_{loop, [this](std::uint32_t) { accept(); }} {
    readiness_.arm(listener_.get(), EPOLLIN);
}

void HostLink::accept() {
    Fd socket{::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
    if (!socket) {
        // Out of descriptors: those that serve the old host are the ones to go.
        if (errno == EMFILE) current_.reset();
        return;
    }
    auto fresh = std::make_unique<Connection>(loop_, std::move(socket), handler_,
                                              [this] { loop_.bury(std::move(current_)); });
    greet(*fresh);
    // The processes of the old connection must be detached before the new one asks for them.
    current_.reset();
    current_ = std::move(fresh);
}

void HostLink::greet(Connection& connection) const {
    connection.send(wire::FrameKind::hello, 0, wire::ChannelId::none,
                    wire::encode(wire::Hello{.magic = wire::kAgentMagic,
                                             .version = wire::kAgentVersion,
                                             .generation = generation_,
                                             .configured = configured_}));
}

}  // namespace oyat::agent
