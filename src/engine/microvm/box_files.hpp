#pragma once

#include <string>
#include <string_view>

#include "engine/microvm/machine.hpp"
#include "engine/microvm/places.hpp"

namespace oyat::microvm {

// What is kept of a sandbox while it lives, in its directory below the run directory, so that a keeper that
// was restarted can go on with it: its machine, QEMU's control socket, and where its agent listens.

void write_box_files(const Places& places, std::string_view id, const Machine& machine,
                     const std::string& agent);
[[nodiscard]] Machine read_box_machine(const Places& places, std::string_view id);
[[nodiscard]] std::string agent_socket(const Places& places, std::string_view id);

}  // namespace oyat::microvm
