#pragma once

#include <string>
#include <vector>

namespace oyat::layers {

// Runs one of the machine's own tools (mkfs.*) to its end. `argv[0]` is looked up in the system's directories
// only. Throws `not_found` when there is none, else with what it wrote to standard error when it failed.
void run_program(std::vector<std::string> argv);

}  // namespace oyat::layers
