#pragma once

#include <memory>
#include <string>

#include "api/e2b/agent_call.hpp"
#include "api/e2b/polled_watchers.hpp"
#include "api/e2b/services.hpp"
#include "http/exchange.hpp"

namespace oyat::e2b {

// What clients take for the agent inside a sandbox: plain HTTP for health, files, metrics and variables, and
// the RPC services for processes and the file system. Nothing of it reaches the sandbox as HTTP; each call
// becomes one of core.
class AgentDoor {
public:
    explicit AgentDoor(Services& services) : services_{services} {}

    Task<> handle(http::Exchange& exchange, std::shared_ptr<core::Sandbox> sandbox, std::string target);
    Task<> close() { return watchers_.close(); }

private:
    Task<> enter(http::Exchange& exchange, std::shared_ptr<core::Sandbox> sandbox, std::string target);
    Task<> dispatch(AgentCall& call, std::string path);

    Services& services_;
    PolledWatchers watchers_;
};

}  // namespace oyat::e2b
