#pragma once

#include <sys/types.h>

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace oyat::agent {

// A process as /proc/PID/stat tells of it.
struct ProcEntry {
    std::string name;
    char state = '?';
    pid_t parent = 0;
    pid_t group = 0;
    pid_t session = 0;
    bool of_kernel = false;

    [[nodiscard]] bool is_dead() const { return state == 'Z' || state == 'X'; }
    [[nodiscard]] bool is_stopped() const { return state == 'T' || state == 't'; }
};

// "123 (any) thing) S 1 123 123 ...": the name may hold anything, so the fields count from its last
// parenthesis.
[[nodiscard]] std::optional<ProcEntry> parse_stat(std::string_view text);

using ProcEntries = std::map<pid_t, ProcEntry>;
[[nodiscard]] ProcEntries all_processes();
[[nodiscard]] std::optional<ProcEntry> one_process(pid_t pid);

// The living programs that the agent answers for: what descends from it, and, when it is the sandbox's pid 1,
// what came in from outside. Parents stand before their children.
[[nodiscard]] std::vector<pid_t> own_programs(const ProcEntries& processes, pid_t agent);

}  // namespace oyat::agent
