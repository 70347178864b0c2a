#include "engine/jail/cpu_shares.hpp"

#include <algorithm>

namespace oyat::jail {

CpuShares CpuShares::of_this_process() {
    cpu_set_t allowed;
    CPU_ZERO(&allowed);
    std::vector<int> processors;
    if (::sched_getaffinity(0, sizeof allowed, &allowed) == 0) {
        for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
            if (CPU_ISSET(cpu, &allowed)) processors.push_back(cpu);
        }
    }
    if (processors.empty()) processors.push_back(0);
    return CpuShares{std::move(processors)};
}

std::uint32_t CpuShares::seen(std::uint32_t cpu_millis) const noexcept {
    const auto all = static_cast<std::uint32_t>(processors_.size());
    if (cpu_millis == 0) return all;
    return std::min(all, (cpu_millis + 999) / 1000);
}

cpu_set_t CpuShares::next(std::uint32_t cpu_millis) noexcept {
    cpu_set_t chosen;
    CPU_ZERO(&chosen);
    for (std::uint32_t left = seen(cpu_millis); left > 0; --left) {
        CPU_SET(static_cast<std::size_t>(processors_[turn_]), &chosen);
        turn_ = (turn_ + 1) % processors_.size();
    }
    return chosen;
}

void pin(pid_t pid, const cpu_set_t& processors) noexcept {
    ::sched_setaffinity(pid, sizeof processors, &processors);
}

}  // namespace oyat::jail
