#pragma once

#include <cstdint>

#include "base/fd.hpp"

namespace oyat::layers {

// A user namespace that maps 0..65535 to base..base+65535, for users and groups alike. No process lives in
// it: the descriptor alone keeps it, for id-mapped mounts.
[[nodiscard]] Fd make_user_namespace(std::uint32_t base);

}  // namespace oyat::layers
