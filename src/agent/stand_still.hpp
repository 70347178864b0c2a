#pragma once

#include <sys/types.h>

#include <vector>

#include "agent/status.hpp"
#include "base/fd.hpp"

namespace oyat::agent {

// Keeps every program of the sandbox from running, for a checkpoint: those in control groups are frozen with
// them, all others get SIGSTOP. The agent itself goes on.
class StandStill {
public:
    // The directory of CommandGroups, -1 where there is none; it outlives this object.
    explicit StandStill(int groups) : groups_{groups} {}

    [[nodiscard]] bool active() const { return active_; }

    // All stand still, or none and the reason. Waits for them for a few seconds at most.
    [[nodiscard]] Status begin();
    // Those go on that begin() has stopped; who stood still before stays so. Nothing happens when not active.
    void end();

private:
    Status freeze_groups();
    Status stop_others();

    int groups_;
    bool active_ = false;
    std::vector<Fd> frozen_;      // directories of groups
    std::vector<pid_t> stopped_;  // parents before their children
};

}  // namespace oyat::agent
