#pragma once

#include "api/e2b/agent_call.hpp"

// The small plain calls of the agent's door.
namespace oyat::e2b {

Task<> answer_health(AgentCall& call);
Task<> answer_metrics(AgentCall& call);
Task<> answer_variables(AgentCall& call);

// Variables that tell a program where it runs. A client can't set them to anything else.
[[nodiscard]] std::map<std::string, std::string> place_variables(const core::SandboxRecord& record);

}  // namespace oyat::e2b
