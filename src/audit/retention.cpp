#include "audit/retention.hpp"

#include <algorithm>
#include <tuple>
#include <utility>

namespace oyat::audit {

std::vector<SegmentFile> due_segments(const std::vector<SegmentFile>& files, WallTime now,
                                      const Retention& retention,
                                      const std::function<bool(const SegmentName&)>& in_use) {
    std::vector<SegmentFile> oldest_first = files;
    std::ranges::sort(oldest_first, {}, [](const SegmentFile& file) {
        return std::tuple{file.changed, file.name.chain, file.name.segment};
    });
    std::uint64_t total = 0;
    for (const SegmentFile& file : files) total += file.bytes;
    std::vector<SegmentFile> due;
    for (SegmentFile& file : oldest_first) {
        const bool too_old = now - file.changed > retention.age;
        const bool too_much = total > retention.bytes;
        if ((!too_old && !too_much) || in_use(file.name)) continue;
        total -= file.bytes;
        due.push_back(std::move(file));
    }
    return due;
}

}  // namespace oyat::audit
