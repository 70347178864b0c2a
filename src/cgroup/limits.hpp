#pragma once

#include <cstdint>
#include <string>

namespace oyat::cgroup {

// What one sandbox may use at most. 0 = not limited.
struct Limits {
    std::uint64_t memory_bytes = 0;         // page cache and tmpfs count; there is no swap on top
    std::uint32_t cpu_millis = 0;           // 2000 = two CPUs
    std::uint32_t processes = 0;            // threads count
    std::uint64_t io_bytes_per_second = 0;  // reads and writes each, on the store's device
};

// What one sandbox has used. A figure that the machine's hierarchies can't tell is 0.
struct Stats {
    std::uint64_t memory_now = 0;
    std::uint64_t memory_peak = 0;
    std::uint64_t memory_cache = 0;  // the part of memory_now that is page cache
    std::uint64_t oom_kills = 0;     // processes that the kernel killed because memory_bytes was reached
    std::uint64_t cpu_us = 0;
    std::uint64_t throttled_us = 0;
    std::uint32_t pids_now = 0;
    std::uint32_t pids_denied = 0;  // forks refused because `processes` was reached
};

// How one limit is enforced here: {"memory", "cgroup v1 memory.limit_in_bytes", true}. `hard` is false when
// the kernel can't hold the limit, or only in part; `by` then says why.
struct Mechanism {
    std::string limit;  // memory, cpu, processes, io
    std::string by;
    bool hard = false;
};

}  // namespace oyat::cgroup
