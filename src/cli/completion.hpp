#pragma once

#include <string>
#include <vector>

namespace oyat::cli {

// The command line's table, as far as completion needs it.
struct CommandEntry {
    std::string name;
    std::string description;
    std::vector<std::string> options;  // "--template"
    std::vector<CommandEntry> commands;
};

[[nodiscard]] std::string bash_completion(const CommandEntry& program);
[[nodiscard]] std::string zsh_completion(const CommandEntry& program);

}  // namespace oyat::cli
