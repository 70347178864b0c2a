#pragma once

#include <memory>
#include <string>

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "cgroup/group.hpp"
#include "engine/microvm/machine.hpp"
#include "engine/microvm/places.hpp"
#include "engine/microvm/qemu.hpp"

namespace oyat::microvm {

// Where a machine and its parts are on the host. Descriptors are borrowed.
struct Site {
    std::string run;   // a directory of its own; QEMU is controlled by `qmp` in it
    std::string disk;  // path, may be /proc/self/fd/N/...
    int agent = -1;    // listening
    int netns = -1;
    int tap = -1;
    uid_t user = 0;  // gets the disk
    const cgroup::Group* group = nullptr;
    Start::Life life = Start::Life::its_own;
    std::string id;
    std::uint64_t generation = 0;
};

// How long a machine may take until its agent speaks.
[[nodiscard]] Millis boot_patience(const Machine& machine);

// Boots it and waits for its agent's hello. Throws with the end of what its console said, if it has one.
[[nodiscard]] std::unique_ptr<Qemu> boot(const Places& places, const Machine& machine, const Site& site);

// Goes on with a saved one: `memory` is its filled memory file, `state` the file with the rest. Its agent can
// be connected to afterwards.
[[nodiscard]] std::unique_ptr<Qemu> restore(const Places& places, const Machine& machine, const Site& site,
                                            int memory, int state);

// QEMU's control socket of the machine whose Site::run that is.
[[nodiscard]] std::string control_socket(const std::string& run);

// Throws when it has ended, with what it complained about.
void check_alive(const Qemu& qemu);

}  // namespace oyat::microvm
