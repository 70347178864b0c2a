#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>

#include "base/clock.hpp"
#include "core/agent_channel.hpp"
#include "core/event.hpp"
#include "core/keeper.hpp"
#include "core/sandbox_record.hpp"

namespace oyat::core {

// What the host has counted against the limits of one sandbox, and so which of them a command ran into.
// Counters come from the keeper: with notices, with samples, and asked for when a command has failed.
class LimitWatch {
public:
    LimitWatch(const SandboxRecord& record, const Clock& clock, EventBus& events)
        : record_{record}, clock_{clock}, events_{events} {}

    // The kernel killed a process for memory. Records it.
    void oom(const KeeperNotice& notice);
    void observe(const BoxUsage& usage);
    // "memory", "processes" or "disk" was hit: by the host's counters, or by an agent's word. At most one
    // event a second and limit.
    void hit(std::string_view limit, Witness by);

    // How things stood when a command started.
    struct Mark {
        std::uint64_t oom_kills = 0;
        std::uint32_t processes_denied = 0;
        std::uint64_t disk_counts = 0;
        MonoTime when{};
    };
    [[nodiscard]] Mark mark() const {
        return {.oom_kills = oom_kills_,
                .processes_denied = processes_denied_,
                .disk_counts = disk_counts_,
                .when = clock_.mono()};
    }

    // "memory", "processes", "disk" or "": the limit behind a failed end. A process that was killed for
    // memory takes its command down at once, so one that fails much later failed for another reason.
    [[nodiscard]] std::string behind(const Mark& start, const ExitReport& exit, std::uint32_t pid) const;

    // "process node (pid 212) was killed: memory limit 2 GiB", of the last one within two seconds; else "".
    [[nodiscard]] std::string recent_oom() const;

private:
    [[nodiscard]] bool oom_is_recent() const;
    void observe_disk(const BoxUsage& usage);
    [[nodiscard]] bool disk_was_full_since(const Mark& start) const;

    const SandboxRecord& record_;
    const Clock& clock_;
    EventBus& events_;

    std::uint64_t oom_kills_ = 0;  // increases seen, whichever way they were seen
    std::uint32_t counted_oom_kills_ = 0;
    std::uint32_t announced_oom_kills_ = 0;
    MonoTime last_oom_{};
    std::uint32_t victim_pid_ = 0;
    std::string victim_;
    std::uint32_t processes_denied_ = 0;
    bool disk_full_ = false;  // by the latest count
    std::uint64_t disk_used_ = 0;
    std::uint64_t inodes_used_ = 0;
    std::uint64_t disk_counts_ = 0;                          // how often the count was seen to be another one
    std::map<std::string, MonoTime, std::less<>> reported_;  // the last event of each limit
};

// "2 GiB", "512 MiB", "1000 bytes".
[[nodiscard]] std::string in_words(std::uint64_t bytes);

}  // namespace oyat::core
