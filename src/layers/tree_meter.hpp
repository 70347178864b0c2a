#pragma once

#include <sys/types.h>

#include "layers/disk.hpp"

namespace oyat::layers {

// Measures how big a tree is, in a child of low priority, for stores that the kernel does not count
// for.
class TreeMeter {
public:
    TreeMeter();
    ~TreeMeter();
    TreeMeter(const TreeMeter&) = delete;
    TreeMeter& operator=(const TreeMeter&) = delete;

    // What the last finished measurement found, at once; begins another of `directory` unless one is under
    // way.
    DiskUse measure(int directory);

private:
    struct Shared {  // written by the child
        std::uint64_t bytes;
        std::uint64_t inodes;
    };
    Shared* shared_;
    pid_t child_ = -1;
};

}  // namespace oyat::layers
