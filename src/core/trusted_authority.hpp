#pragma once

#include <map>
#include <string>

#include "core/agent_channel.hpp"

namespace oyat::core {

// Has the programs of a sandbox trust one more certificate authority: the one by which oyatd reads those of
// their connections that a rule or a secret needs to be read. Goes into the image's own list, beside what
// the operator has put there; returns where that list is. Can be done again.
Task<std::string> install_authority(AgentChannel& agent, std::string authority_pem);

// The variables by which programs that bring a list of their own find that one.
[[nodiscard]] std::map<std::string, std::string> authority_environment(const std::string& list);

}  // namespace oyat::core
