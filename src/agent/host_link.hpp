#pragma once

#include <cstdint>
#include <memory>

#include "agent/connection.hpp"
#include "agent/loop.hpp"
#include "base/fd.hpp"

namespace oyat::agent {

// The listening socket that the keeper gave. One host at a time: a new connection is greeted, then the old
// one is closed, so a host that came back never waits for its own corpse.
class HostLink {
public:
    HostLink(Loop& loop, Fd listener, RequestHandler& handler, std::uint64_t generation);

    // What the next HELLO says.
    void set_configured() { configured_ = true; }
    void set_generation(std::uint64_t generation) { generation_ = generation; }
    [[nodiscard]] std::uint64_t generation() const { return generation_; }

private:
    void accept();
    void greet(Connection& connection) const;

    Loop& loop_;
    Fd listener_;
    RequestHandler& handler_;
    std::uint64_t generation_;
    bool configured_ = false;
    std::unique_ptr<Connection> current_;
    Readiness readiness_;
};

}  // namespace oyat::agent
