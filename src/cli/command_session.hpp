#pragma once

#include <csignal>
#include <string>
#include <vector>

#include "cli/commands.hpp"
#include "io/signals.hpp"

namespace oyat::cli {

// What a person's terminal tells a running command, by way of us.
inline const std::vector<int> kPersonsSignals{SIGINT, SIGTERM, SIGHUP, SIGWINCH};

// Starts the command in the sandbox and attends to it: our input goes in, its output comes out here, Ctrl-C
// goes to the program, and the size of the terminal follows. Returns the exit code to pass on.
Task<int> run_in(Context& context, std::string id, Command command, Signals& signals);

}  // namespace oyat::cli
