#pragma once

#include <string>

namespace oyat::cli {

// Understands the command line, runs the command, and returns the program's exit code.
int run_command_line(int argc, char** argv, std::string version);

}  // namespace oyat::cli
