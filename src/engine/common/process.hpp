#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>

#include "base/fd.hpp"

namespace oyat::engine {

// The process that a sandbox ends with, seen from the host: pid 1 of a jail, the machine of a microvm, the
// kernel of a gvisor sandbox. The descriptor names this very process for as long as it is open; pid and start
// time together name it on disk, where a number alone could come to mean somebody else (threats D-12).
struct Process {
    pid_t pid = -1;
    std::uint64_t start_ticks = 0;  // since boot, as in /proc/PID/stat
    Fd pidfd;
};

// Nothing when the process has gone.
[[nodiscard]] std::optional<std::uint64_t> start_ticks_of(pid_t pid);

// The process that a record speaks of, if it is still that one.
[[nodiscard]] std::optional<Process> find_process(pid_t pid, std::uint64_t start_ticks);

// The number that the process has in its innermost pid namespace, 0 when it can't be seen any more.
[[nodiscard]] std::uint32_t pid_inside(pid_t pid);

// SIGKILL. All processes of its pid namespace die with pid 1, and its pidfd becomes readable when they have.
void kill_process(const Process& process) noexcept;

[[nodiscard]] bool has_ended(const Process& process) noexcept;

// Blocks until a child of ours has ended, and reaps it: for one that has just been killed.
void wait_for_end(const Process& process) noexcept;

// Takes the exit status of a child that has ended. Harmless for a process that is not our child (an adopted
// one).
void reap(const Process& process) noexcept;

}  // namespace oyat::engine
