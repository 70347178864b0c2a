#pragma once

#include <functional>
#include <string>

#include "engine/microvm/machine.hpp"
#include "engine/microvm/qmp.hpp"

namespace oyat::microvm {

// A machine at rest, in a directory: `manifest.json`, `memory` (sparse, as it lay in the guest) and
// `device.state` (everything else). The disk is kept beside it by whoever saves it.

// Stops the machine, writes the files and calls `meanwhile` before anything can go on. The machine is left
// stopped; the files are not synced.
void save_machine(Qmp& control, const Machine& machine, int into, const std::function<void()>& meanwhile);
void sync_saved(int directory);

// What a saved machine is. Throws what is wrong with its manifest.
[[nodiscard]] Machine read_manifest(int directory);

// Paths of its files, to be opened by this process.
[[nodiscard]] std::string memory_path(int directory);
[[nodiscard]] std::string state_path(int directory);

}  // namespace oyat::microvm
