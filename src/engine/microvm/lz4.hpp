#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "base/result.hpp"

namespace oyat::microvm {

// Unpacks LZ4's legacy frame, which is what Linux packs kernels in: magic 0x184C2102, then blocks, each with
// its packed length before it. Refuses what is damaged or would become longer than `most`.
[[nodiscard]] Result<std::string> unpack_lz4_legacy(std::string_view packed, std::size_t most);

}  // namespace oyat::microvm
