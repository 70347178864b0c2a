#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"

namespace oyat::microvm {

// Modules by name, "virtio_blk"; the content of their files.
using Modules = std::map<std::string, std::string>;

// How a module is called that lies in this file: "virtio-rng.ko" is virtio_rng. "" for other files.
[[nodiscard]] std::string module_name(std::string_view file);

// Those that a module says it needs, from its `.modinfo`.
[[nodiscard]] std::vector<std::string> needs_of(std::string_view module);

// All of them, each after what it needs. A need that is not among them is taken for built into the kernel.
// Refuses a circle.
[[nodiscard]] Result<std::vector<std::string>> load_order(const Modules& modules);

}  // namespace oyat::microvm
