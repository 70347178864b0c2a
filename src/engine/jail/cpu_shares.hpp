#pragma once

#include <sched.h>
#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace oyat::jail {

// Which of the host's processors a sandbox runs on: as many as its share needs, taken in turn. The share
// itself is held by the control group; the affinity is what `nproc`, Go and Rust count.
class CpuShares {
public:
    static CpuShares of_this_process();
    explicit CpuShares(std::vector<int> processors) : processors_{std::move(processors)} {}

    // How many processors a sandbox with that share sees: 1500 -> 2.
    [[nodiscard]] std::uint32_t seen(std::uint32_t cpu_millis) const noexcept;

    // The next ones in turn, for a share of that size.
    [[nodiscard]] cpu_set_t next(std::uint32_t cpu_millis) noexcept;

    [[nodiscard]] std::size_t count() const noexcept { return processors_.size(); }

private:
    std::vector<int> processors_;
    std::size_t turn_ = 0;
};

// For the agent, and so for all that it starts from now on.
void pin(pid_t pid, const cpu_set_t& processors) noexcept;

}  // namespace oyat::jail
