#pragma once

#include <string>

namespace oyat::layers {

// Removes a tree in a process of low priority that nobody waits for. What it does not finish (a crash)
// is still there under the same name.
void remove_in_background(int dir, const std::string& name);

}  // namespace oyat::layers
