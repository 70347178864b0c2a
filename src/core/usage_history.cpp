#include "core/usage_history.hpp"

#include <algorithm>
#include <limits>

namespace oyat::core {
namespace {

constexpr auto kHour = std::chrono::hours{1};
constexpr std::size_t kMost = 3600;  // whatever the rate
constexpr std::uint64_t kPage = 4096;

std::uint32_t pages(std::uint64_t bytes) {
    return static_cast<std::uint32_t>(
        std::min<std::uint64_t>((bytes + kPage - 1) / kPage, std::numeric_limits<std::uint32_t>::max()));
}

}  // namespace

void UsageHistory::add(WallTime time, MonoTime mono, const BoxUsage& usage) {
    const double passed = std::chrono::duration<double, std::micro>{mono - last_}.count();
    float percent = 0;
    if (!packed_.empty() && passed > 0 && usage.cpu_us >= packed_.back().cpu_us) {
        percent =
            static_cast<float>(100.0 * static_cast<double>(usage.cpu_us - packed_.back().cpu_us) / passed);
    }
    last_ = mono;
    latest_ = usage;
    packed_.push_back({.millis = unix_millis(time),
                       .cpu_us = usage.cpu_us,
                       .memory_pages = pages(usage.memory_now),
                       .cache_pages = pages(usage.memory_cache),
                       .peak_pages = pages(usage.memory_peak),
                       .disk_pages = pages(usage.disk_used),
                       .inodes = static_cast<std::uint32_t>(std::min<std::uint64_t>(
                           usage.inodes_used, std::numeric_limits<std::uint32_t>::max())),
                       .processes = usage.processes,
                       .cpu_percent = percent});
    const std::int64_t oldest = unix_millis(time - kHour);
    while (packed_.size() > kMost || packed_.front().millis < oldest) packed_.pop_front();
}

std::vector<UsageSample> UsageHistory::samples() const {
    std::vector<UsageSample> all;
    all.reserve(packed_.size());
    for (const Packed& each : packed_) {
        UsageSample sample{
            .time = from_unix_millis(each.millis), .usage = latest_, .cpu_percent = each.cpu_percent};
        sample.usage.cpu_us = each.cpu_us;
        sample.usage.memory_now = each.memory_pages * kPage;
        sample.usage.memory_cache = each.cache_pages * kPage;
        sample.usage.memory_peak = each.peak_pages * kPage;
        sample.usage.disk_used = each.disk_pages * kPage;
        sample.usage.inodes_used = each.inodes;
        sample.usage.processes = each.processes;
        all.push_back(std::move(sample));
    }
    return all;
}

}  // namespace oyat::core
