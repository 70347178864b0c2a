#pragma once

#include <cstdint>
#include <string>

namespace oyat::layers {

// What one sandbox may write at most. 0 = the store's room is the only limit.
struct DiskLimit {
    std::uint64_t bytes = 0;
    std::uint64_t inodes = 0;
};

struct DiskUse {
    std::uint64_t bytes = 0;
    std::uint64_t inodes = 0;  // 0 where the store can't count them
    DiskLimit limit;
};

// What a store is and how far its limits hold; for the server's info and for the sandbox's record.
struct StoreFacts {
    std::string disk_limit_by;  // "project-quota", "btrfs-qgroup", "reflink-image", "loop-image", "watched"
    bool bytes_hard =
        false;  // the kernel refuses the byte beyond the limit (EDQUOT or ENOSPC: one answer, "disk limit")
    bool inodes_hard = false;  // the same for the count of files
    std::string inodes_by;     // how inodes are held where inodes_hard is false
    std::string where;         // "image in the state (btrfs)", "the state's own file system (xfs)"
    std::uint64_t device = 0;  // dev_t of the block device, for cgroup io limits
};

// Room left, as statfs tells it. `host_free` is that of the file system that holds the state, which a sparse
// store image shares with everybody else on the machine.
struct StoreRoom {
    std::uint64_t free = 0;
    std::uint64_t total = 0;
    std::uint64_t host_free = 0;
    std::uint64_t host_total = 0;
};

}  // namespace oyat::layers
