#pragma once

#include <cstdint>

namespace oyat::core {

// Hard limits of one sandbox. In a request, 0 means "the template's or the server's default".
struct Limits {
    std::uint64_t memory_bytes = 0;
    std::uint32_t cpu_millis = 0;  // 2000 = two CPUs
    std::uint32_t processes = 0;
    std::uint64_t disk_bytes = 0;
    std::uint64_t disk_inodes = 0;
    std::uint64_t io_bytes_per_second = 0;  // 0 = none
    std::uint64_t open_files = 0;           // RLIMIT_NOFILE of each process
    bool operator==(const Limits&) const = default;
};

// The defaults of issue and documentation: 2 CPU, 2 GiB, 1,024 processes, 10 GiB and a million inodes.
inline constexpr Limits kDefaultLimits{.memory_bytes = 2ull << 30,
                                       .cpu_millis = 2000,
                                       .processes = 1024,
                                       .disk_bytes = 10ull << 30,
                                       .disk_inodes = 1'000'000,
                                       .io_bytes_per_second = 0,
                                       .open_files = 65'536};

}  // namespace oyat::core
