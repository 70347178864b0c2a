#pragma once

#include <sys/types.h>

#include "engine/common/engine.hpp"
#include "engine/microvm/machine.hpp"
#include "engine/microvm/places.hpp"
#include "engine/microvm/survey.hpp"

namespace oyat::microvm {

// What a start has beside the parts of its sandbox. Borrowed.
struct StartDescriptors {
    int tap = -1;
    int memory = -1;  // the memory file of the saved machine, filled or not
};

// Starts the sandbox as a copy of a saved machine: its own that Parts::memory names, or the warm one of its
// template and size. Returns QEMU's pid. For a child process, which waits for what is slow.
[[nodiscard]] pid_t start_box(const Places& places, const Machine& machine, const engine::Parts& parts,
                              const StartDescriptors& descriptors);

// Whoever takes a survey holds it.
[[nodiscard]] Fd survey_lock(const Places& places);
// The survey that somebody else is taking.
[[nodiscard]] Survey survey_after_wait(const Places& places, Accelerator wanted);

}  // namespace oyat::microvm
