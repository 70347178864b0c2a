#pragma once

#include <deque>
#include <vector>

#include "base/clock.hpp"
#include "core/sandbox.hpp"

namespace oyat::core {

// The samples of the last hour, packed: a thousand sandboxes have 720 of them each.
class UsageHistory {
public:
    void add(WallTime time, MonoTime mono, const BoxUsage& usage);
    [[nodiscard]] std::vector<UsageSample> samples() const;
    [[nodiscard]] double latest_percent() const { return packed_.empty() ? 0 : packed_.back().cpu_percent; }

private:
    struct Packed {
        std::int64_t millis;
        std::uint64_t cpu_us;
        std::uint32_t memory_pages, cache_pages, peak_pages;  // of 4 KiB
        std::uint32_t disk_pages;
        std::uint32_t inodes;
        std::uint32_t processes;
        float cpu_percent;
    };

    std::deque<Packed> packed_;
    MonoTime last_{};
    BoxUsage latest_;  // what changes rarely or only grows is kept once
};

}  // namespace oyat::core
