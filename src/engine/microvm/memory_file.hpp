#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "base/fd.hpp"

namespace oyat::microvm {

// The memory of a saved machine in a file of the kernel's (memfd), which nobody can write to once it is
// filled. QEMU wants to open a memory file for writing even if it only maps it privately; a file on disk that
// it may write to could be changed by one machine under all that have been started from it.

[[nodiscard]] Fd make_memory_file();

// Fills and seals it, unless that has been done; who comes second waits. `from` is the saved memory, which
// must have this size.
void fill_memory_file(int memory, const std::string& from, std::uint64_t bytes);

// Memory files that are kept for the next start from the same saved machine. What they hold is resident as
// long as it is here or in a machine, so only a few are.
class MemoryShelf {
public:
    // Empty when it is new: filled by a child, it is filled here too.
    [[nodiscard]] int file_for(const std::string& key);

private:
    struct Kept {
        Fd file;
        std::uint64_t last_use = 0;
    };
    std::map<std::string, Kept> kept_;
    std::uint64_t uses_ = 0;
};

}  // namespace oyat::microvm
