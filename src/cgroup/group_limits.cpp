#include <cstdint>
#include <string>
#include <string_view>

#include "base/throwing.hpp"
#include "cgroup/files.hpp"
#include "cgroup/group.hpp"
#include "cgroup/parent.hpp"

// The figures of a Group: limits written, use read. Which file tells what, in v1 and in v2.
namespace oyat::cgroup {
namespace {

constexpr std::uint64_t kCpuPeriodUs = 100'000;
constexpr std::uint64_t kSocketShare =
    8;  // of the memory limit, about what the kernel gives TCP of a machine

std::uint64_t cpu_quota_us(std::uint32_t millis) {
    return std::uint64_t{millis} * kCpuPeriodUs / 1000;
}

std::string number_or(std::uint64_t value, std::string_view unlimited) {
    return value == 0 ? std::string{unlimited} : std::to_string(value);
}

void set_memory_v1(const GroupFiles& files, std::uint64_t bytes) {
    // Memory plus swap may never be below memory: it steps aside first, so the order is right for both
    // directions.
    const bool counts_swap = files.write_if_present("memory.memsw.limit_in_bytes", "-1");
    files.write("memory.limit_in_bytes", number_or(bytes, "-1"));
    if (counts_swap) files.write("memory.memsw.limit_in_bytes", number_or(bytes, "-1"));
    // What waits in TCP and UDP sockets is counted apart, and only where it has a limit: else one sandbox
    // uses up what the kernel gives the sockets of the whole machine.
    files.write_if_present("memory.kmem.tcp.limit_in_bytes", number_or(bytes / kSocketShare, "-1"));
}

void set_memory_v2(const GroupFiles& files, std::uint64_t bytes) {
    files.write("memory.max", number_or(bytes, "max"));
    files.write_if_present("memory.swap.max", "0");
}

void add_memory_v1(const GroupFiles& files, Stats& stats) {
    stats.memory_now = files.number("memory.usage_in_bytes");
    stats.memory_peak = files.number("memory.max_usage_in_bytes");
    stats.memory_cache = keyed_number(files.read("memory.stat"), "total_cache");
    stats.oom_kills = keyed_number(files.read("memory.oom_control"), "oom_kill");
}

void add_memory_v2(const GroupFiles& files, Stats& stats) {
    stats.memory_now = files.number("memory.current");
    stats.memory_peak = files.number("memory.peak");
    stats.memory_cache = keyed_number(files.read("memory.stat"), "file");
    stats.oom_kills = keyed_number(files.read("memory.events"), "oom_kill");
}

}  // namespace

void Group::update(const Limits& limits) const {
    in("limit group " + name_, [&] {
        const auto v1 = [&](Controller controller) { return parent_->v1(controller); };
        const GroupFiles v2{parent_->v2(), name_};
        if (const int dir = v1(Controller::memory); dir >= 0) {
            set_memory_v1({dir, name_}, limits.memory_bytes);
        } else if (parent_->v2_has(Controller::memory)) {
            set_memory_v2(v2, limits.memory_bytes);
        }
        if (const int dir = v1(Controller::cpu); dir >= 0) {
            GroupFiles{dir, name_}.write("cpu.cfs_quota_us",
                                         number_or(cpu_quota_us(limits.cpu_millis), "-1"));
        } else if (parent_->v2_has(Controller::cpu)) {
            v2.write("cpu.max", number_or(cpu_quota_us(limits.cpu_millis), "max"));
        }
        if (const int dir = v1(Controller::pids); dir >= 0) {
            GroupFiles{dir, name_}.write("pids.max", number_or(limits.processes, "max"));
        } else if (parent_->v2_has(Controller::pids)) {
            v2.write("pids.max", number_or(limits.processes, "max"));
        }
        if (parent_->io_device_.empty()) return;
        if (const int dir = v1(Controller::blkio); dir >= 0) {
            const std::string rule = parent_->io_device_ + " " + std::to_string(limits.io_bytes_per_second);
            GroupFiles{dir, name_}.write("blkio.throttle.read_bps_device", rule);
            GroupFiles{dir, name_}.write("blkio.throttle.write_bps_device", rule);
        } else if (parent_->v2_has(Controller::blkio)) {
            const std::string rate = number_or(limits.io_bytes_per_second, "max");
            v2.write("io.max", parent_->io_device_ + " rbps=" + rate + " wbps=" + rate);
        }
    });
}

Stats Group::stats() const {
    return in("read group " + name_, [&] {
        Stats stats;
        const GroupFiles v2{parent_->v2(), name_};
        if (const int dir = parent_->v1(Controller::memory); dir >= 0) {
            add_memory_v1({dir, name_}, stats);
        } else if (parent_->v2_has(Controller::memory)) {
            add_memory_v2(v2, stats);
        }
        if (parent_->v2_) {
            const std::string cpu = v2.read("cpu.stat");
            stats.cpu_us = keyed_number(cpu, "usage_usec");
            stats.throttled_us = keyed_number(cpu, "throttled_usec");
        } else if (const int dir = parent_->v1(Controller::cpuacct); dir >= 0) {
            stats.cpu_us = GroupFiles{dir, name_}.number("cpuacct.usage") / 1000;
        }
        if (const int dir = parent_->v1(Controller::cpu); dir >= 0) {
            stats.throttled_us =
                keyed_number(GroupFiles{dir, name_}.read("cpu.stat"), "throttled_time") / 1000;
        }
        const int v1_pids = parent_->v1(Controller::pids);
        if (v1_pids >= 0 || parent_->v2_has(Controller::pids)) {
            const GroupFiles pids{v1_pids >= 0 ? v1_pids : parent_->v2(), name_};
            stats.pids_now = static_cast<std::uint32_t>(pids.number("pids.current"));
            stats.pids_denied = static_cast<std::uint32_t>(keyed_number(pids.read("pids.events"), "max"));
        }
        return stats;
    });
}

}  // namespace oyat::cgroup
