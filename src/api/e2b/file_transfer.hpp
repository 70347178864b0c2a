#pragma once

#include "api/e2b/agent_call.hpp"

// Files by plain HTTP at the agent's door. All act with the rights of the user that the query names.
namespace oyat::e2b {

Task<> send_file(AgentCall& call);      // GET /files?path=&username=
Task<> receive_files(AgentCall& call);  // POST /files?path=&username=
Task<> compose_file(AgentCall& call);   // POST /files/compose

}  // namespace oyat::e2b
