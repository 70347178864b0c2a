#include "agent/process_tree.hpp"

#include <unistd.h>

#include <csignal>
#include <set>

#include "agent/proc_entries.hpp"

namespace oyat::agent {
namespace {

std::set<pid_t> family_of(pid_t number_of_leader, Leader leader) {
    const ProcEntries processes = all_processes();
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
