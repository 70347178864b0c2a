#include "core/limit_watch.hpp"

#include <algorithm>

#include "core/json_text.hpp"
#include "core/record_fields.hpp"

namespace oyat::core {
namespace {

using namespace std::chrono_literals;

constexpr auto kOomEffect = 2s;     // between a kill for memory and the end of the command that it hit
constexpr auto kQuiet = 1s;         // between two events of one limit
constexpr auto kLatestCount = 30s;  // btrfs counts at each commit
constexpr std::uint64_t kAlmost = 1u << 20;  // a disk with less room than this is full

}  // namespace

void LimitWatch::oom(const KeeperNotice& notice) {
    announced_oom_kills_ += std::max(notice.count, 1u);
    // A sample may have counted this kill already.
    if (announced_oom_kills_ > counted_oom_kills_) ++oom_kills_;
    last_oom_ = clock_.mono();
    victim_ = notice.process.empty() ? "?" : notice.process;
    victim_pid_ = notice.pid;

    Event event = sandbox_event(record_, "oom", Witness::host);
    event.fault = Fault::limit;
    event.fields["process"] = json_text(victim_);
    event.fields["pid"] = victim_pid_;
    event.fields["limit"] = record_.limits.memory_bytes;
    emit_or_log(events_, std::move(event));

    Event hit = sandbox_event(record_, "limit.hit", Witness::host);
    hit.fault = Fault::limit;
    hit.fields["limit"] = "memory";
    hit.fields["value"] = record_.limits.memory_bytes;
    hit.fields["process"] = json_text(victim_);
    hit.fields["pid"] = victim_pid_;
    emit_or_log(events_, std::move(hit));
}

void LimitWatch::observe(const BoxUsage& usage) {
    if (usage.oom_kills > counted_oom_kills_) {
        counted_oom_kills_ = usage.oom_kills;
        if (counted_oom_kills_ > announced_oom_kills_) {
            ++oom_kills_;
            last_oom_ = clock_.mono();
        }
    }
    if (usage.processes_denied > processes_denied_) {
        processes_denied_ = usage.processes_denied;
        hit("processes", Witness::host);
    }
    observe_disk(usage);
}

void LimitWatch::observe_disk(const BoxUsage& usage) {
    if (disk_counts_ == 0 || usage.disk_used != disk_used_ || usage.inodes_used != inodes_used_) {
        ++disk_counts_;
        disk_used_ = usage.disk_used;
        inodes_used_ = usage.inodes_used;
    }
    const bool was_full = disk_full_;
    disk_full_ = (usage.disk_limit != 0 && usage.disk_used + kAlmost > usage.disk_limit) ||
                 (usage.inodes_limit != 0 && usage.inodes_used >= usage.inodes_limit);
    if (disk_full_ && !was_full) hit("disk", Witness::host);
}

void LimitWatch::hit(std::string_view limit, Witness by) {
    const MonoTime now = clock_.mono();
    const auto [last, first] = reported_.try_emplace(std::string{limit}, now);
    if (!first && now - last->second < kQuiet) return;
    last->second = now;
    Event event = sandbox_event(record_, "limit.hit", by);
    event.fault = Fault::limit;
    event.fields["limit"] = limit;
    event.fields["value"] = limit == "disk"     ? record_.limits.disk_bytes
                            : limit == "memory" ? record_.limits.memory_bytes
                                                : record_.limits.processes;
    emit_or_log(events_, std::move(event));
}

bool LimitWatch::oom_is_recent() const {
    return last_oom_ != MonoTime{} && clock_.mono() - last_oom_ <= kOomEffect;
}

std::string LimitWatch::behind(const Mark& start, const ExitReport& exit, std::uint32_t pid) const {
    if (exit.exit_code == 0 || exit.killed_by_api || exit.timed_out) return {};
    if (oom_kills_ > start.oom_kills && (oom_is_recent() || victim_pid_ == pid)) return "memory";
    if (processes_denied_ > start.processes_denied) return "processes";
    if (exit.signal == 0 && disk_was_full_since(start)) return "disk";
    return {};
}

// A count that is late may tell of a time before the start, when the disk was full and somebody has made
// room since. It is of this command's time when it was made meanwhile, or can't be older than the command.
bool LimitWatch::disk_was_full_since(const Mark& start) const {
    if (!disk_full_) return false;
    const bool late = record_.disk_limit_by == "btrfs-qgroup";
    return !late || disk_counts_ > start.disk_counts || clock_.mono() - start.when >= kLatestCount;
}

std::string LimitWatch::recent_oom() const {
    if (!oom_is_recent()) return {};
    const std::string pid = victim_pid_ == 0 ? std::string{} : " (pid " + std::to_string(victim_pid_) + ")";
    return "process " + victim_ + pid + " was killed: memory limit " + in_words(record_.limits.memory_bytes);
}

std::string in_words(std::uint64_t bytes) {
    constexpr std::uint64_t kKib = 1024;
    for (const auto& [unit, name] :
         {std::pair{kKib * kKib * kKib, " GiB"}, {kKib * kKib, " MiB"}, {kKib, " KiB"}}) {
        if (bytes >= unit && bytes % unit == 0) return std::to_string(bytes / unit) + name;
    }
    return std::to_string(bytes) + " bytes";
}

}  // namespace oyat::core
