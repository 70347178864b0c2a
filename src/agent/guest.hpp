#pragma once

#include <cstdint>

#include "base/fd.hpp"

// The agent as /init of a virtual machine: it makes the machine a sandbox and goes on as its agent.
// Its parts: guest_words (what the host says), guest_devices (modules, disks, port), guest_root (file
// systems), guest_network.
namespace oyat::agent {

// Whether this process was started by a kernel, out of an initrd of ours.
[[nodiscard]] bool is_guest_init();

// First of all: /proc, /sys, /dev, and descriptors 0 to 2.
void open_guest_devices();

struct Guest {
    Fd port;    // to the host
    Fd cgroup;  // control group v2 for commands
    std::uint64_t generation = 0;
};

// The rest. A machine that can't be made a sandbox says why on its console and ends.
[[nodiscard]] Guest make_guest();

// For the parts: says what failed, with errno, and ends the machine.
[[noreturn]] void guest_fails(const char* step);

}  // namespace oyat::agent
