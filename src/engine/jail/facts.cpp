#include "engine/jail/facts.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>

#include "base/fd.hpp"

namespace oyat::jail {
namespace {

constexpr std::uint64_t kTicksPerSecond = 100;  // USER_HZ, part of the kernel's interface

std::string read_whole(const char* path) {
    std::string text;
    const Fd file{::open(path, O_RDONLY | O_CLOEXEC)};
    if (!file) return text;
    std::array<char, 16 * 1024> part;
    for (ssize_t n = 0; (n = ::read(file.get(), part.data(), part.size())) > 0;) {
        text.append(part.data(), static_cast<std::size_t>(n));
    }
    return text;
}

void append_kib(std::string& out, const char* name, std::uint64_t bytes) {
    std::array<char, 64> line{};
    const int n = std::snprintf(line.data(), line.size(), "%-15s %8llu kB\n", name,
                                static_cast<unsigned long long>(bytes / 1024));
    out.append(line.data(), static_cast<std::size_t>(n));
}

// Opens `path` below the sandbox's root, if it is what the keeper put there: a file of a tmpfs that the
// host's root owns.
Fd open_inside(int root, const char* path) {
    open_how how{};
    how.flags = O_WRONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK;
    how.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS;
    Fd file{static_cast<int>(::syscall(SYS_openat2, root, path, &how, sizeof how))};
    if (!file) return {};
    struct stat status{};
    struct statfs system{};
    if (::fstat(file.get(), &status) != 0 || ::fstatfs(file.get(), &system) != 0) return {};
    if (!S_ISREG(status.st_mode) || status.st_uid != 0 || system.f_type != TMPFS_MAGIC) return {};
    return file;
}

// A reader inside may see a mix of the old and the new text, never an empty file.
void replace_text(int root, FactFile which, std::string_view text) {
    const Fd file = open_inside(root, path_inside(which));
    if (!file) return;
    if (::pwrite(file.get(), text.data(), text.size(), 0) == static_cast<ssize_t>(text.size())) {
        [[maybe_unused]] const int done = ::ftruncate(file.get(), static_cast<off_t>(text.size()));
    }
}

}  // namespace

const char* path_inside(FactFile file) noexcept {
    switch (file) {
        case FactFile::meminfo: return "proc/meminfo";
        case FactFile::stat: return "proc/stat";
        case FactFile::cpuinfo: return "proc/cpuinfo";
        case FactFile::online: return "sys/devices/system/cpu/online";
        case FactFile::possible: return "sys/devices/system/cpu/possible";
        case FactFile::present: return "sys/devices/system/cpu/present";
    }
    return "";
}

Processors Processors::of_this_machine() {
    return parse(read_whole("/proc/cpuinfo"));
}

Processors Processors::parse(std::string_view cpuinfo) {
    constexpr std::string_view mark = "processor\t";
    Processors processors;
    processors.text_ = cpuinfo;
    for (std::size_t at = processors.text_.find(mark); at != std::string::npos;
         at = processors.text_.find(mark, at + 1)) {
        if (at == 0 || processors.text_[at - 1] == '\n') processors.starts_.push_back(at);
    }
    if (processors.starts_.empty()) processors.starts_.push_back(0);
    return processors;
}

std::string_view Processors::first(std::uint32_t cpus) const noexcept {
    const std::string_view text = text_;
    return cpus >= starts_.size() ? text : text.substr(0, starts_[cpus]);
}

std::string meminfo_text(const Facts& facts) {
    const std::uint64_t total = facts.memory_bytes;
    const std::uint64_t used = std::min(facts.memory_now, total);
    const std::uint64_t cache = std::min(facts.memory_cache, used);
    std::string out;
    append_kib(out, "MemTotal:", total);
    append_kib(out, "MemFree:", total - used);
    append_kib(out, "MemAvailable:", total - used + cache);
    append_kib(out, "Buffers:", 0);
    append_kib(out, "Cached:", cache);
    append_kib(out, "SwapCached:", 0);
    append_kib(out, "Active:", used);
    append_kib(out, "Inactive:", 0);
    append_kib(out, "SwapTotal:", 0);
    append_kib(out, "SwapFree:", 0);
    append_kib(out, "Dirty:", 0);
    append_kib(out, "Writeback:", 0);
    append_kib(out, "AnonPages:", used - cache);
    append_kib(out, "Mapped:", 0);
    append_kib(out, "Shmem:", 0);
    append_kib(out, "Slab:", 0);
    append_kib(out, "SReclaimable:", 0);
    append_kib(out, "SUnreclaim:", 0);
    append_kib(out, "CommitLimit:", total);
    append_kib(out, "Committed_AS:", used);
    return out;
}

std::string stat_text(const Facts& facts) {
    const std::uint64_t cpus = std::max<std::uint64_t>(facts.cpus, 1);
    const std::uint64_t age = facts.age_ms * kTicksPerSecond / 1000;
    const std::uint64_t busy = std::min(facts.cpu_us * kTicksPerSecond / 1'000'000, age * cpus);
    const auto line = [](const std::string& name, std::uint64_t user, std::uint64_t idle) {
        return name + " " + std::to_string(user) + " 0 0 " + std::to_string(idle) + " 0 0 0 0 0 0\n";
    };
    std::string out = line("cpu ", busy, (age * cpus) - busy);
    for (std::uint64_t cpu = 0; cpu < cpus; ++cpu) {
        out += line("cpu" + std::to_string(cpu), busy / cpus, age - (busy / cpus));
    }
    out += "intr 0\nctxt 0\nbtime " + std::to_string(facts.started_s) + "\nprocesses " +
           std::to_string(facts.processes) + "\nprocs_running 1\nprocs_blocked 0\nsoftirq 0\n";
    return out;
}

std::string cpu_list_text(std::uint32_t cpus) {
    return cpus <= 1 ? "0\n" : "0-" + std::to_string(cpus - 1) + "\n";
}

void write_facts(pid_t pid, const Facts& facts, const Processors& processors, Which which) {
    const Fd root{
        ::open(("/proc/" + std::to_string(pid) + "/root").c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC)};
    if (!root) return;
    replace_text(root.get(), FactFile::meminfo, meminfo_text(facts));
    replace_text(root.get(), FactFile::stat, stat_text(facts));
    if (which == Which::moving) return;
    replace_text(root.get(), FactFile::cpuinfo, processors.first(facts.cpus));
    for (const FactFile file : {FactFile::online, FactFile::possible, FactFile::present}) {
        replace_text(root.get(), file, cpu_list_text(facts.cpus));
    }
}

}  // namespace oyat::jail
