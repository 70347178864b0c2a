#include "agent/host_link.hpp"

namespace oyat::agent {

void HostLink::meet(Fd connection, Greeting greeting) {
    auto fresh = std::make_unique<Connection>(loop_, std::move(connection), handler_, *this);
    if (greeting == Greeting::now) {
        greet(*fresh, 0);
    } else {
        fresh->wait_for_knock();
    }
    // The processes of the old connection must be detached before the new one asks for them.
    current_.reset();
    current_ = std::move(fresh);
}

void HostLink::broken() {
    const bool finished = current_ && current_->finished();
    loop_.bury(std::move(current_));
    door_->gone(finished);
}

void HostLink::greet(Connection& connection, std::uint64_t echo) const {
    connection.send(wire::FrameKind::hello, 0, wire::ChannelId::none,
                    wire::encode(wire::Hello{.magic = wire::kAgentMagic,
                                             .version = wire::kAgentVersion,
                                             .generation = generation_,
                                             .configured = configured_,
                                             .echo = echo}));
}

}  // namespace oyat::agent
