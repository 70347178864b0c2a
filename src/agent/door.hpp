#pragma once

#include <memory>
#include <string>

#include "agent/loop.hpp"
#include "base/fd.hpp"

namespace oyat::agent {

class HostLink;

// Where the host comes in. Gives each connection to the HostLink, which says when one is gone.
class Door {
public:
    virtual ~Door() = default;
    // `finished`: by the agent, between two frames.
    virtual void gone(bool finished) = 0;
    // Whether the agent can end a connection so that the host sees it.
    [[nodiscard]] virtual bool hangs_up() const { return true; }
};

// A listening socket, which the host connects to.
[[nodiscard]] std::unique_ptr<Door> listen_for_host(Loop& loop, Fd listener, HostLink& link);

// A socket of the host's, for sandboxes in which nobody outside can reach a listener: tries until somebody
// listens, and again whenever a connection is gone.
[[nodiscard]] std::unique_ptr<Door> connect_to_host(Loop& loop, std::string path, HostLink& link);

// A port of a virtual machine: one stream of bytes for ever, at whose other end hosts come and go.
[[nodiscard]] std::unique_ptr<Door> wait_at_port(Loop& loop, Fd port, HostLink& link);

}  // namespace oyat::agent
