#pragma once

#include <string>
#include <string_view>

#include "engine/microvm/machine.hpp"
#include "engine/microvm/places.hpp"

namespace oyat::microvm {

// Machines that were booted once, until their agent spoke, and saved: a sandbox starts as a copy of one, in
// tens of milliseconds instead of two seconds. One for each template's disk and each size, on disk until the
// template goes.

// The directory of the one of this shape. The same for all hosts' clock rates: that is looked at when it is
// used.
[[nodiscard]] std::string warm_directory(const Places& places, const Machine& machine);
// Its disk, beside what saved_machine.hpp names.
[[nodiscard]] std::string warm_disk(const std::string& directory);

// Makes it, if it is not there or was made under other circumstances; who comes second waits. The template's
// disk must be there. A boot that takes too long is tried once more, with a console. For a child process.
void make_warm(const Places& places, const Machine& machine);

// Removes those that no start will use any more: made with another QEMU, kernel or agent.
void remove_outdated_warm(const Places& places, std::string_view qemu, std::string_view guest);

// Boots a machine until its agent speaks, and ends it. Throws when it does not. For a child process.
void try_boot(const Places& places, const Machine& machine);

}  // namespace oyat::microvm
