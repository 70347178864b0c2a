#pragma once

#include "agent/status.hpp"
#include "wire/agent_messages.hpp"

namespace oyat::agent {

// Gives this machine's clock, random numbers and names a new life. Which of them were the agent's to change
// is in the answer, without the generation, which is the host link's. Refuses what is malformed, before
// anything is changed.
[[nodiscard]] Answer<wire::Renewed> renew_machine(const wire::Renew& renew);

}  // namespace oyat::agent
