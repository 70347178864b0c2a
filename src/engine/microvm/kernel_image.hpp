#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace oyat::microvm {

// "6.1.0-57-cloud-amd64", from the header of a bzImage.
[[nodiscard]] Result<std::string> kernel_release(std::string_view bzimage);

// The ELF kernel that a bzImage carries. Entered directly, it saves the guest the unpacking, which takes 0.2
// s under emulation. Refuses a payload that is not packed with LZ4: QEMU then gets the bzImage itself.
[[nodiscard]] Result<std::string> unpack_kernel(std::string_view bzimage);

}  // namespace oyat::microvm
