#pragma once

#include <memory>
#include <string>

#include "cli/commands.hpp"
#include "io/stream.hpp"

namespace oyat::cli {

// The client's side of a command's stream: our input goes in, its output comes out here, Ctrl-C goes to the
// program, and the size of the terminal follows. Returns the exit code to pass on.
Task<int> attend_command(std::unique_ptr<Stream> stream, Command command);

// Starts the command in the sandbox and attends to it.
Task<int> run_in(Context& context, std::string id, Command command);

}  // namespace oyat::cli
