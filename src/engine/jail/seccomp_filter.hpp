#pragma once

#include <linux/filter.h>

#include <vector>

// The classic-BPF program that enforces syscall_table.hpp on one architecture. It is built once, when the
// keeper starts, and loaded by every jail's first process (44 us; a lookup is a binary search, about seven
// comparisons).
namespace oyat::jail {

enum class IoUring { absent, allowed };

[[nodiscard]] std::vector<sock_filter> build_seccomp_filter(IoUring io_uring = IoUring::absent);

}  // namespace oyat::jail
