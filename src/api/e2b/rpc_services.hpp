#pragma once

#include <string>
#include <string_view>

#include "api/e2b/agent_call.hpp"
#include "api/e2b/polled_watchers.hpp"

// The two RPC services at the agent's door: process.Process and filesystem.Filesystem.
namespace oyat::e2b {

[[nodiscard]] bool is_rpc_method(std::string_view path);

// Serves the call of a method that is one. A sandbox that ends meanwhile cuts what has begun, and is not
// found otherwise.
Task<> serve_rpc(AgentCall& call, std::string path, PolledWatchers& watchers);

}  // namespace oyat::e2b
