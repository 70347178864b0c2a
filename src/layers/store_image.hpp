#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "layers/loop_mount.hpp"
#include "layers/staging.hpp"

namespace oyat::layers {

// The store as one sparse file in the state, for states whose own file system can't hold limits.
struct StoreImage {
    std::string file;    // "store.btrfs"
    std::string fstype;  // "btrfs"
    std::string mkfs;    // the command line but for the image's path
    std::string options;
};

// Mounts the image in Staging's namespace; makes and formats it first if it is absent. `bytes` is its size
// then: 0 = the smaller of 64 GiB and 80 % of what is free. Blocks are taken from the host only as sandboxes
// write.
[[nodiscard]] std::unique_ptr<LoopMount> open_store_image(const std::string& state_dir,
                                                          const StoreImage& image, std::uint64_t bytes,
                                                          const Staging& staging);

}  // namespace oyat::layers
