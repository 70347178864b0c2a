#pragma once

#include "layers/unpack.hpp"

namespace oyat::layers {

// Writes the tree below the working directory, which is the caller's root, as tar (pax) compressed with zstd.
// What unpack() makes of it has the same digest; hard links stay hard links.
void pack(int archive, const OnArchiveProgress& on_progress);

}  // namespace oyat::layers
