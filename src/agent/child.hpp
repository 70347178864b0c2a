#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>

namespace oyat::agent {

// Where the way from clone to exec ended.
enum class ChildStep : std::int32_t {
    started,
    group,
    session,
    terminal,
    limits,
    identity,
    directory,
    program,
    held_up  // it was stopped on the way, by somebody inside
};

struct ChildFailure {
    ChildStep step = ChildStep::started;  // started: no failure
    std::int32_t err = 0;
};

// All that a new program needs, prepared beforehand: between clone and exec nothing is allocated.
struct ChildPlan {
    int cgroup = -1;             // directory to be born in, or -1
    std::array<int, 3> stdio{};  // become 0, 1, 2
    bool terminal = false;       // stdio[0] becomes the controlling terminal
    std::uint64_t nofile = 0;
    bool reset_oom_score = false;
    bool change_identity = false;
    std::uint32_t uid = 0;
    std::uint32_t gid = 0;
    const std::uint32_t* groups = nullptr;
    std::size_t group_count = 0;
    const char* cwd = nullptr;
    const char* fallback_cwd = nullptr;       // when cwd does not exist, or null
    const char* const* candidates = nullptr;  // programs to try in this order, null-terminated
    char* const* argv = nullptr;
    char** shell_argv = nullptr;  // for a script without "#!": {"sh", <set to the script>, arguments}
    char* const* envp = nullptr;
    int go = -1;      // held: the program starts when a byte comes here, and never when it closes
    int result = -1;  // held: where a ChildFailure goes
};

// Starts the program in a child that borrows the agent's memory until its exec: half a millisecond less than
// a fork. Returns the pid, or -1 with `failure` set; the child is reaped then. Never waits long: anybody of
// the same user inside can stop the child before it is the program.
[[nodiscard]] pid_t start_child(const ChildPlan& plan, ChildFailure& failure);

// Starts a child with its own memory that waits for `plan.go` before it becomes the program.
[[nodiscard]] pid_t start_held_child(const ChildPlan& plan, ChildFailure& failure);

}  // namespace oyat::agent
