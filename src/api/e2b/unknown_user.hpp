#pragma once

#include "api/e2b/agent_call.hpp"

namespace oyat::e2b {

// Whether a call failed because the sandbox has no such user. To the sandbox that is a call which can't be
// carried out (failed_precondition); to the protocol it is "unauthenticated". Asked only after such a
// failure, so that it costs the others nothing.
Task<bool> is_unknown_user(AgentCall& call, const Error& failure);

}  // namespace oyat::e2b
