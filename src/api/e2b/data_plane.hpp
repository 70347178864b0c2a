#pragma once

#include "api/e2b/agent_door.hpp"
#include "api/e2b/destination.hpp"
#include "api/e2b/services.hpp"
#include "core/visit_book.hpp"

namespace oyat::e2b {

// Requests to a port of a sandbox: the agent's door, which we are ourselves, or any other port, which is
// passed on.
class DataPlane {
public:
    explicit DataPlane(Services& services)
        : services_{services}, door_{services}, visits_{services.events, services.clock} {}

    Task<> handle(http::Exchange& exchange, ToPort to);
    Task<> close() { return door_.close(); }

private:
    Services& services_;
    AgentDoor door_;
    core::VisitBook visits_;
};

}  // namespace oyat::e2b
