#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"
#include "engine/microvm/modules.hpp"

namespace oyat::microvm {

// What the guest's kernel starts from: /init is the agent, /m/order names the modules' files one a line in
// the order in which they are to be loaded, /m/NAME.ko are the modules.
[[nodiscard]] Result<std::string> make_initrd(std::string_view agent, const Modules& modules);

}  // namespace oyat::microvm
