#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "audit/segment_file.hpp"
#include "base/clock.hpp"

namespace oyat::audit {

// How long the record is kept: segments go when they are older, or the oldest when there is more.
struct Retention {
    std::chrono::hours age = std::chrono::days{30};
    std::uint64_t bytes = 10ull << 30;
};

// The segments whose time is over, oldest first. Of a chain that is being written the newest always stays,
// and no segment goes before those that precede it: what remains links without holes.
[[nodiscard]] std::vector<SegmentFile> due_segments(const std::vector<SegmentFile>& files, WallTime now,
                                                    const Retention& retention,
                                                    const std::function<bool(const SegmentName&)>& in_use);

}  // namespace oyat::audit
