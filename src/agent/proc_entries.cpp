#include "agent/proc_entries.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <cstdint>

#include "base/fd.hpp"

namespace oyat::agent {
namespace {

constexpr std::uint64_t kKernelThread = 0x00200000;  // PF_KTHREAD of the kernel's sched.h

std::optional<ProcEntry> read_stat(int proc, const std::string& pid) {
    const Fd file{::openat(proc, (pid + "/stat").c_str(), O_RDONLY | O_CLOEXEC)};
    char text[512];
    const ssize_t got = file ? ::read(file.get(), text, sizeof text) : -1;
    if (got <= 0) return std::nullopt;
    return parse_stat({text, static_cast<std::size_t>(got)});
}

}  // namespace

std::optional<ProcEntry> parse_stat(std::string_view text) {
    const std::size_t name = text.find('(');
    const std::size_t at = text.rfind(") ");
    if (name == text.npos || at == text.npos || at <= name || text.size() < at + 5) return std::nullopt;
    ProcEntry entry;
    entry.name = text.substr(name + 1, at - name - 1);
    entry.state = text[at + 2];
    const char* from = text.data() + at + 4;
    const char* const end = text.data() + text.size();
    const auto number = [&](auto& value) {
        const auto [next, error] = std::from_chars(from, end, value);
        from = next == end ? end : next + 1;
        return error == std::errc{};
    };
    for (pid_t* each : {&entry.parent, &entry.group, &entry.session}) {
        if (!number(*each)) return std::nullopt;
    }
    std::int64_t terminal = 0;
    std::int64_t foreground = 0;
    std::uint64_t flags = 0;
    if (number(terminal) && number(foreground) && number(flags))
        entry.of_kernel = (flags & kKernelThread) != 0;
    return entry;
}

ProcEntries all_processes() {
    ProcEntries found;
    DIR* proc = ::opendir("/proc");
    if (proc == nullptr) return found;
    while (const dirent* entry = ::readdir(proc)) {
        pid_t pid = 0;
        const std::string_view name = entry->d_name;
        if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size())
            continue;
        if (auto read = read_stat(::dirfd(proc), std::string{name})) found.emplace(pid, *std::move(read));
    }
    ::closedir(proc);
    return found;
}

std::optional<ProcEntry> one_process(pid_t pid) {
    return read_stat(AT_FDCWD, "/proc/" + std::to_string(pid));
}

std::vector<pid_t> own_programs(const ProcEntries& processes, pid_t agent) {
    std::multimap<pid_t, pid_t> children;
    for (const auto& [pid, entry] : processes) {
        if (!entry.of_kernel && !entry.is_dead()) children.emplace(entry.parent, pid);
    }
    std::vector<pid_t> found;
    const auto take_children_of = [&](pid_t parent) {
        const auto [from, to] = children.equal_range(parent);
        for (auto child = from; child != to; ++child) {
            if (child->second != agent) found.push_back(child->second);
        }
    };
    take_children_of(agent);
    if (agent == 1) take_children_of(0);
    for (std::size_t i = 0; i < found.size(); ++i) take_children_of(found[i]);
    return found;
}

}  // namespace oyat::agent
