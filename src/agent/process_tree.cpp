#include "agent/process_tree.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <csignal>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/fd.hpp"

namespace oyat::agent {
namespace {

struct Kin {
    pid_t parent = 0;
    pid_t group = 0;
    pid_t session = 0;
};

// "123 (any) thing) S 1 123 123 ...": the name may hold anything, so the fields count from its last
// parenthesis.
std::optional<Kin> parse_stat(std::string_view text) {
    const std::size_t at = text.rfind(") ");
    if (at == text.npos || text.size() < at + 5) return std::nullopt;
    Kin kin;
    const char* from = text.data() + at + 4;
    const char* const end = text.data() + text.size();
    for (pid_t* number : {&kin.parent, &kin.group, &kin.session}) {
        const auto [next, error] = std::from_chars(from, end, *number);
        if (error != std::errc{}) return std::nullopt;
        from = next == end ? end : next + 1;
    }
    return kin;
}

std::map<pid_t, Kin> all_processes() {
    std::map<pid_t, Kin> found;
    DIR* proc = ::opendir("/proc");
    if (proc == nullptr) return found;
    while (const dirent* entry = ::readdir(proc)) {
        pid_t pid = 0;
        const std::string_view name = entry->d_name;
        if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size())
            continue;
        const Fd file{::openat(::dirfd(proc), (std::string{name} + "/stat").c_str(), O_RDONLY | O_CLOEXEC)};
        char text[512];
        const ssize_t got = file ? ::read(file.get(), text, sizeof text) : -1;
        if (got <= 0) continue;
        if (const auto kin = parse_stat({text, static_cast<std::size_t>(got)})) found.emplace(pid, *kin);
    }
    ::closedir(proc);
    return found;
}

std::set<pid_t> family_of(pid_t number_of_leader, Leader leader) {
    const std::map<pid_t, Kin> processes = all_processes();
    if (leader == Leader::buried && processes.contains(number_of_leader)) return {};
    const pid_t self = ::getpid();
    const pid_t own_session = ::getsid(0);
    std::set<pid_t> family{number_of_leader};
    for (bool grew = true; grew;) {
        grew = false;
        for (const auto& [pid, kin] : processes) {
            if (pid == self || kin.session == own_session || family.contains(pid)) continue;
            if (family.contains(kin.parent) || family.contains(kin.group) || family.contains(kin.session)) {
                grew = family.insert(pid).second;
            }
        }
    }
    if (leader == Leader::buried) family.erase(number_of_leader);
    return family;
}

}  // namespace

void signal_tree(pid_t number_of_leader, Leader leader, int number) {
    std::set<pid_t> reached;
    // A SIGKILL goes out again as long as a look finds somebody new, for those who were forking meanwhile.
    const int looks = number == SIGKILL ? 8 : 1;
    for (int look = 0; look < looks; ++look) {
        std::size_t fresh = 0;
        for (const pid_t pid : family_of(number_of_leader, leader)) {
            if (!reached.insert(pid).second) continue;
            ::kill(pid, number);
            ++fresh;
        }
        if (fresh == 0) break;
    }
}

}  // namespace oyat::agent
