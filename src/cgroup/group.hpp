#pragma once

#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "cgroup/limits.hpp"

namespace oyat::cgroup {

class Parent;

// The control group of one sandbox, in all hierarchies at once. A light handle (a name below its Parent,
// which must outlive it): it holds no descriptor, so a thousand of them cost nothing, and destroying the
// handle leaves the group in the kernel; `destroy()` ends it.
class Group {
public:
    [[nodiscard]] const std::string& name() const noexcept { return name_; }

    // Changes the limits of a group in use. Lowering memory below what is used makes the kernel reclaim, and
    // refuses
    // (`exhausted`) or kills when it can't.
    void update(const Limits& limits) const;

    // Files of the v1 hierarchies, open for writing: a child between clone and exec joins each by write(fd,
    // "0", 1), without allocation. Empty on a pure v2 machine. The caller closes them after the clone.
    [[nodiscard]] std::vector<Fd> join_fds() const;

    // The v2 directory (O_RDONLY|O_DIRECTORY|O_CLOEXEC), or an empty Fd on a pure v1 machine. Serves two
    // things: clone3's CLONE_INTO_CGROUP, and the agent's descriptor 4 (there it makes `c<N>`, below the
    // agent's own group).
    [[nodiscard]] Fd tree_fd() const;

    // Stops all processes, waiting at most `wait` for the kernel to say so (normally 0.2 to 0.6 ms). False
    // when it did not in time (a process in uninterruptible sleep); it stays ordered and completes later.
    bool freeze(Millis wait) const;
    void thaw() const;
    [[nodiscard]] bool frozen() const;

    // SIGKILL to every process of the group, also while frozen. Returns at once; the processes go in their
    // own time.
    void kill() const;
    [[nodiscard]] bool empty() const;

    [[nodiscard]] Stats stats() const;

    // Removes the child groups, then the group, in every hierarchy. False while a process is still in it:
    // kill, wait for the end of pid 1, try again. Never fails on a group that is half there or gone.
    [[nodiscard]] bool destroy() const;

private:
    friend class Parent;
    friend class OomWatch;
    Group(const Parent& parent, std::string name) : parent_{&parent}, name_{std::move(name)} {}

    const Parent* parent_;
    std::string name_;
};

}  // namespace oyat::cgroup
