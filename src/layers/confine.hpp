#pragma once

#include <vector>

namespace oyat::layers {

// For a forked child that handles a tree from outside: makes `root` its whole file system (a mount namespace
// with nothing else in it), takes its network away, drops every capability but those over files, bounds its
// memory, and closes all descriptors but the standard ones and those that `keep` names (they keep their
// numbers). There is no way back. No library call may come after it that loads something from the file
// system: what is there is hostile.
void confine_to(int root, const std::vector<int>& keep);

}  // namespace oyat::layers
