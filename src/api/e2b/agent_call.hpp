#pragma once

#include <memory>
#include <string>

#include "api/e2b/services.hpp"
#include "core/sandbox.hpp"
#include "http/exchange.hpp"

namespace oyat::e2b {

// One request at the agent's door of a running sandbox, allowed in.
struct AgentCall {
    Services& services;
    http::Exchange& exchange;
    std::shared_ptr<core::Sandbox> sandbox;  // shared with the registry: the sandbox may end meanwhile
    std::string query;                       // of the target, not decoded
    std::string user;                        // whom to act as, "" = the sandbox's default user
    core::Principal who;                     // for the record
};

}  // namespace oyat::e2b
