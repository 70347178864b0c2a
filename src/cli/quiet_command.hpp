#pragma once

#include <string>
#include <vector>

#include "cli/client.hpp"
#include "io/task.hpp"

namespace oyat::cli {

// Runs a command of our own inside, to its end. Throws Failure with its last words when it fails.
Task<> run_quietly(Client& client, std::string id, std::vector<std::string> argv, std::string user);

}  // namespace oyat::cli
