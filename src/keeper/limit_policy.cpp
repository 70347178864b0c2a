#include "keeper/limit_policy.hpp"

#include <sched.h>
#include <sys/sysinfo.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string_view>

namespace oyat::keeper {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
constexpr std::uint64_t kTiB = std::uint64_t{1} << 40;
constexpr std::uint64_t kLeastMemory = 16 * kMiB;  // below it the agent itself would not start

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t' || text.back() == '\r'))
        text.remove_suffix(1);
    return text;
}

Result<std::uint64_t> parse_number(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) {
        return refuse(Errc::invalid_argument, "'" + std::string{text} + "' is not a number");
    }
    return number;
}

template <class T>
Result<void> choose(const char* what, T& value, T fallback, T maximum) {
    if (value == 0) value = std::min(fallback, maximum);
    if (value <= maximum) return {};
    return refuse(Errc::exhausted, std::string{what} + " of " + std::to_string(value) +
                                       " is above this server's maximum of " + std::to_string(maximum));
}

}  // namespace

LimitPolicy LimitPolicy::for_this_machine() {
    struct sysinfo machine{};
    ::sysinfo(&machine);
    const std::uint64_t memory = static_cast<std::uint64_t>(machine.totalram) * machine.mem_unit;
    const auto cpus = static_cast<std::uint32_t>(std::max(1, ::get_nprocs()));
    LimitPolicy policy;
    policy.maximum = {.memory_bytes = memory,
                      .cpu_millis = cpus * 1000,
                      .processes = 32'768,
                      .disk_bytes = kTiB,
                      .disk_inodes = 100'000'000,
                      .io_bytes_per_second = std::numeric_limits<std::uint64_t>::max()};
    policy.defaults = {.memory_bytes = std::min(2 * kGiB, memory),
                       .cpu_millis = std::min(2U, cpus) * 1000,
                       .processes = 1024,
                       .disk_bytes = 10 * kGiB,
                       .disk_inodes = 1'000'000};
    return policy;
}

Result<void> LimitPolicy::read_lines(std::string_view text) {
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        std::string_view line = text.substr(0, end);
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        line = trimmed(line.substr(0, line.find('#')));
        if (line.empty()) continue;
        const std::size_t equals = line.find('=');
        if (equals == std::string_view::npos) {
            return refuse(Errc::invalid_argument, "'" + std::string{line} + "' is not `name = number`");
        }
        const std::string_view name = trimmed(line.substr(0, equals));
        const Result<std::uint64_t> number = parse_number(trimmed(line.substr(equals + 1)));
        if (!number) return std::unexpected{number.error()};

        bool known = false;
        const auto setting = [&](std::string_view its_name, auto& value) {
            if (name != its_name) return;
            known = *number <= std::numeric_limits<std::remove_reference_t<decltype(value)>>::max();
            value = static_cast<std::remove_reference_t<decltype(value)>>(*number);
        };
        setting("max_boxes", max_boxes);
        setting("creates_per_second", creates_per_second);
        setting("open_files", open_files);
        const auto both = [&](const std::string& its_name, auto member) {
            setting("default_" + its_name, defaults.*member);
            setting("max_" + its_name, maximum.*member);
        };
        both("memory_bytes", &wire::BoxLimits::memory_bytes);
        both("cpu_millis", &wire::BoxLimits::cpu_millis);
        both("processes", &wire::BoxLimits::processes);
        both("disk_bytes", &wire::BoxLimits::disk_bytes);
        both("disk_inodes", &wire::BoxLimits::disk_inodes);
        both("io_bytes_per_second", &wire::BoxLimits::io_bytes_per_second);
        if (!known)
            return refuse(Errc::invalid_argument,
                          "no limit is called '" + std::string{name} + "', or it is too large");
    }
    return {};
}

Result<wire::BoxLimits> LimitPolicy::judge(const wire::BoxLimits& asked) const {
    wire::BoxLimits limits = asked;
    const std::array checks{
        choose("memory", limits.memory_bytes, defaults.memory_bytes, maximum.memory_bytes),
        choose("CPU", limits.cpu_millis, defaults.cpu_millis, maximum.cpu_millis),
        choose("process count", limits.processes, defaults.processes, maximum.processes),
        choose("disk size", limits.disk_bytes, defaults.disk_bytes, maximum.disk_bytes),
        choose("inode count", limits.disk_inodes, defaults.disk_inodes, maximum.disk_inodes),
        choose("I/O rate", limits.io_bytes_per_second, defaults.io_bytes_per_second,
               maximum.io_bytes_per_second),
    };
    for (const Result<void>& check : checks) {
        if (!check) return std::unexpected{check.error()};
    }
    if (limits.memory_bytes < kLeastMemory) {
        return refuse(Errc::invalid_argument, "memory must be at least 16 MiB");
    }
    return limits;
}

}  // namespace oyat::keeper
