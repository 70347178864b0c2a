#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace oyat::core {

// The words of each simple command in a shell script, quotes taken off: `cd a && npm "ci"` is {cd, a} and
// {npm, ci}. Commands in $(...), in `...` and in (...) count. It guesses as a reader does: nothing is
// expanded, so what a variable hides is not seen. Pure; linear; at most the first 64 KiB and 1,000 commands.
[[nodiscard]] std::vector<std::vector<std::string>> simple_commands(std::string_view script);

}  // namespace oyat::core
