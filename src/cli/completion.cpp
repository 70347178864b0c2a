#include "cli/completion.hpp"

namespace oyat::cli {
namespace {

std::string joined(const std::vector<std::string>& words) {
    std::string line;
    for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
    return line;
}

std::string names(const std::vector<CommandEntry>& commands) {
    std::vector<std::string> all;
    for (const CommandEntry& command : commands) all.push_back(command.name);
    return joined(all);
}

// "path of commands") words="..." ;; for each command and those below it.
void bash_cases(std::string& out, const std::string& path, const CommandEntry& command) {
    out += "        '" + path + "') words='" + joined({names(command.commands), joined(command.options)}) +
           "' ;;\n";
    for (const CommandEntry& below : command.commands) {
        bash_cases(out, path.empty() ? below.name : path + " " + below.name, below);
    }
}

// The patterns of all commands, so that an argument is not taken for one.
std::string known_paths(const CommandEntry& program) {
    std::string patterns;
    for (const CommandEntry& command : program.commands) {
        patterns += (patterns.empty() ? "'" : " | '") + command.name + "'";
        for (const CommandEntry& below : command.commands)
            patterns += " | '" + command.name + " " + below.name + "'";
    }
    return patterns;
}

std::string quoted(const std::string& text) {
    std::string out;
    for (const char c : text) {
        if (c == '\'') {
            out += "'\\''";
        } else if (c == ':' || c == '[' || c == ']') {
            out += std::string{"\\"} + c;
        } else {
            out += c;
        }
    }
    return out;
}

void zsh_function(std::string& out, const std::string& function, const CommandEntry& command) {
    out += function + "() {\n";
    if (command.commands.empty()) {
        out += "    _arguments";
        for (const std::string& option : command.options) out += " '" + option + "'";
        out += " '*:file:_files'\n}\n";
        return;
    }
    out += "    local -a commands=(\n";
    for (const CommandEntry& below : command.commands) {
        out += "        '" + below.name + ":" + quoted(below.description) + "'\n";
    }
    out +=
        "    )\n    if (( CURRENT == 2 )); then\n        _describe command commands\n        return\n    "
        "fi\n";
    out += "    local name=$words[2]\n    shift words\n    (( CURRENT-- ))\n    case $name in\n";
    for (const CommandEntry& below : command.commands) {
        out += "        " + below.name + ") " + function + "_" + below.name + " ;;\n";
    }
    out += "    esac\n}\n";
    for (const CommandEntry& below : command.commands) zsh_function(out, function + "_" + below.name, below);
}

}  // namespace

std::string bash_completion(const CommandEntry& program) {
    std::string cases;
    bash_cases(cases, "", program);
    return "# bash completion for " + program.name + "\n_" + program.name +
           "() {\n"
           "    local word=${COMP_WORDS[COMP_CWORD]} path= next words i\n"
           "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
           "        next=${COMP_WORDS[i]}\n"
           "        [[ $next == -* ]] && continue\n"
           "        case \"${path:+$path }$next\" in\n"
           "            " +
           known_paths(program) +
           ") path=${path:+$path }$next ;;\n"
           "        esac\n"
           "    done\n"
           "    case $path in\n" +
           cases +
           "    esac\n"
           "    COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
           "    [[ ${#COMPREPLY[@]} -eq 0 && $word != -* ]] && COMPREPLY=($(compgen -f -- \"$word\"))\n"
           "}\n"
           "complete -F _" +
           program.name + " " + program.name + "\n";
}

std::string zsh_completion(const CommandEntry& program) {
    std::string out = "#compdef " + program.name + "\n";
    zsh_function(out, "_" + program.name, program);
    out += "_" + program.name + " \"$@\"\n";
    return out;
}

}  // namespace oyat::cli
