#pragma once

#include <sys/types.h>

#include <cstddef>
#include <deque>
#include <map>
#include <memory>
#include <vector>

#include "agent/command_group.hpp"
#include "agent/loop.hpp"
#include "agent/process.hpp"
#include "base/fd.hpp"

namespace oyat::agent {

// Every process that the agent started and no host has seen the end of; and, as pid 1, the one who buries all
// dead.
class ProcessTable {
public:
    static constexpr std::size_t kMaxRunning = 1024;
    static constexpr std::size_t kMaxEnded = 256;
    static constexpr std::ptrdiff_t kMaxKept = 32 * 1024 * 1024;  // unacknowledged output of all processes

    ProcessTable(Loop& loop, Fd cgroup);

    [[nodiscard]] Loop& loop() { return loop_; }
    [[nodiscard]] CommandGroups& groups() { return groups_; }

    [[nodiscard]] bool full() const { return processes_.size() - ended_.size() >= kMaxRunning; }
    Process& add(Launched launched, wire::Spawn request, std::string user);
    [[nodiscard]] Process* find(pid_t pid);
    // The one with the next greater number, or null.
    [[nodiscard]] const Process* after(pid_t pid) const;

    // From the processes.
    void ended(Process& process);
    void forget(Process& process);
    void retire(CommandGroup group) { groups_.retire(std::move(group)); }
    void count_kept(std::ptrdiff_t change) { kept_ += change; }
    [[nodiscard]] std::size_t kept_over_limit() const {
        return kept_ > kMaxKept ? static_cast<std::size_t>(kept_ - kMaxKept) : 0;
    }

private:
    void reap();

    Loop& loop_;
    CommandGroups groups_;
    Fd signals_;
    Readiness readiness_;
    std::ptrdiff_t kept_ = 0;
    std::map<pid_t, std::unique_ptr<Process>> processes_;
    std::deque<Process*> ended_;  // oldest first
};

}  // namespace oyat::agent
