#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "engine/gvisor/homes.hpp"
#include "engine/gvisor/runsc.hpp"

namespace oyat::gvisor {

// What a sandbox is started from, as the child that starts it has it.
struct StartPlan {
    std::string id;
    int root = -1;   // its file system, an unattached mount
    int state = -1;  // its home's
    int door = -1;
    int agent = -1;   // the program
    int memory = -1;  // a checkpoint to go on from
    int outer_network = -1;
    int inner_network = -1;
    int knock = -1;   // readable once its first program has come to us
    int output = -1;  // that program's standard output, if anybody wants it
    std::uint32_t first_id = 0;
    std::uint64_t generation = 0;  // 0: its first program is no agent
    std::string bundle;
    std::string hosts;  // /etc/hosts inside
};

// In a child of the keeper that has joined the sandbox's control group: starts it and returns the pid of its
// kernel. The home then names its processes.
[[nodiscard]] pid_t start_container(const Runsc& runsc, const Homes& homes, const StartPlan& plan);

// The same kind of child, outside of the group: writes the sandbox's memory into a directory and ends it.
void checkpoint_container(const Runsc& runsc, std::string_view id, int state, int into);

// Ends what still lives of one, waits for that, and removes its home.
void end_container(const Homes& homes, std::string_view id) noexcept;

}  // namespace oyat::gvisor
