#pragma once

#include <sys/types.h>

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oyat::jail {

// What a sandbox is told of its machine: its own limits and use in place of the host's, so that `free`,
// `nproc`, Node and the JVM size themselves right. The files are plain ones, written by the keeper when the
// sandbox is handed out and whenever its figures are asked for; between those times they stand still.
struct Facts {
    std::uint64_t memory_bytes = 0;
    std::uint64_t memory_now = 0;
    std::uint64_t memory_cache = 0;
    std::uint64_t cpu_us = 0;
    std::uint32_t cpus = 1;
    std::uint64_t age_ms = 0;
    std::int64_t started_s = 0;  // Unix time
    std::uint32_t processes = 0;
};

// One file that the keeper keeps true, as a path inside.
enum class FactFile { meminfo, stat, cpuinfo, online, possible, present };
inline constexpr std::array kFactFiles{FactFile::meminfo, FactFile::stat,     FactFile::cpuinfo,
                                       FactFile::online,  FactFile::possible, FactFile::present};
[[nodiscard]] const char* path_inside(FactFile file) noexcept;  // "proc/meminfo"

// The host's own processors, read once: asking costs milliseconds on a large machine.
class Processors {
public:
    static Processors of_this_machine();
    static Processors parse(std::string_view cpuinfo);

    [[nodiscard]] std::uint32_t count() const noexcept { return static_cast<std::uint32_t>(starts_.size()); }
    // /proc/cpuinfo of a machine with the first `cpus` of them.
    [[nodiscard]] std::string_view first(std::uint32_t cpus) const noexcept;

private:
    std::string text_;
    std::vector<std::size_t> starts_;
};

[[nodiscard]] std::string meminfo_text(const Facts& facts);
[[nodiscard]] std::string stat_text(const Facts& facts);
[[nodiscard]] std::string cpu_list_text(std::uint32_t cpus);  // "0-3\n"

enum class Which { all, moving };  // moving: those that change while the limits stay

// Writes the files of the sandbox whose pid 1 is `pid`. Best effort: a sandbox that is just dying has no
// files left.
void write_facts(pid_t pid, const Facts& facts, const Processors& processors, Which which);

}  // namespace oyat::jail
