#pragma once

#include <sys/types.h>

#include <map>
#include <string>
#include <vector>

// Other programs of the machine that `oyat up` and `oyat down` use.
namespace oyat::cli {

// Runs a program with our own input and output to its end; returns its exit code (127: it could not be
// started).
[[nodiscard]] int run_program(const std::vector<std::string>& argv,
                              const std::map<std::string, std::string>& env = {});

// Starts a program in a session of its own that outlives us, with its output appended to a file. Throws
// Error.
[[nodiscard]] pid_t start_detached(const std::vector<std::string>& argv,
                                   const std::map<std::string, std::string>& env, const std::string& log);

}  // namespace oyat::cli
