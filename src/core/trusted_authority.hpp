#pragma once

#include <map>
#include <string>

#include "core/agent_channel.hpp"

namespace oyat::core {

// Has the programs of a sandbox trust one more certificate authority: the one by which oyatd reads those of
// their connections that a rule or a secret needs to be read. Goes into the image's own store, beside what
// the operator has put there, and into one file of everything that is trusted. Can be done again.
Task<> install_authority(AgentChannel& agent, std::string authority_pem);

// The variables by which programs that bring a list of their own find that file.
[[nodiscard]] const std::map<std::string, std::string>& authority_environment();

}  // namespace oyat::core
