#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"

namespace oyat::agent {

// From /m, in this order; one that is there already is fine.
void load_modules(const std::vector<std::string>& names);

// The device of the disk with this virtio serial, "/dev/vda". Order and number of disks don't matter.
[[nodiscard]] std::string disk_named(std::string_view serial);

// The virtio port of this name, which does not block.
[[nodiscard]] Fd open_port(std::string_view name);

}  // namespace oyat::agent
