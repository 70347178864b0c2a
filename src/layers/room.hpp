#pragma once

#include <string>

#include "layers/disk.hpp"

namespace oyat::layers {

// What statfs says of the store's file system and of the one that the state stands on.
[[nodiscard]] StoreRoom room_of(int store, const std::string& state_dir);

}  // namespace oyat::layers
