#pragma once

#include <cstdint>
#include <string>

#include "base/result.hpp"
#include "wire/keeper_messages.hpp"

namespace oyat::keeper {

// The server's own limits, from the keeper's root-owned file: what a box gets when nothing is asked, the most
// that may be asked, and how many boxes there may be. oyatd cannot widen them (threats D-02, D-07).
struct LimitPolicy {
    wire::BoxLimits defaults;
    wire::BoxLimits maximum;
    std::uint32_t max_boxes = 2000;
    std::uint32_t creates_per_second = 500;
    std::uint64_t open_files = 65'536;  // RLIMIT_NOFILE of every process inside

    // Fits this machine: 2 CPUs, 2 GiB, 1,024 processes, 10 GiB and 10^6 inodes by default, at most what
    // there is.
    static LimitPolicy for_this_machine();

    // Lines of `name = number`, `#` starts a comment. An unknown name is refused: a misspelt limit would be
    // none.
    [[nodiscard]] Result<void> read_lines(std::string_view text);

    // The limits in force for what was asked; 0 asks for the default.
    [[nodiscard]] Result<wire::BoxLimits> judge(const wire::BoxLimits& asked) const;
};

}  // namespace oyat::keeper
