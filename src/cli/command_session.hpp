#pragma once

#include <string>

#include "cli/commands.hpp"

namespace oyat::cli {

// Starts the command in the sandbox and attends to it: our input goes in, its output comes out here, Ctrl-C
// goes to the program, and the size of the terminal follows. Returns the exit code to pass on.
Task<int> run_in(Context& context, std::string id, Command command);

}  // namespace oyat::cli
