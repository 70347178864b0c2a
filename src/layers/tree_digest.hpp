#pragma once

#include <cstdint>
#include <string>

namespace oyat::layers {

// What a tree is by its content: the definition stands in docs/internals/layers.md.
struct TreeSummary {
    std::string digest;       // "sha256:<64 hex>"
    std::uint64_t files = 0;  // everything but the root itself
    std::uint64_t bytes = 0;  // of regular files
};

[[nodiscard]] TreeSummary summarize_tree(int root);

}  // namespace oyat::layers
