#include "agent/stand_still.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <set>
#include <utility>

#include "agent/loop.hpp"
#include "agent/proc_entries.hpp"
#include "agent/small_file.hpp"

namespace oyat::agent {
namespace {

constexpr std::int64_t kPatienceMs = 3000;
constexpr std::size_t kMostPids = 1024 * 1024;
constexpr int kDeepest = 8;  // groups below a command's own, which somebody inside has made

// Looks every half millisecond until it is so or the time is over.
template <class Condition>
bool soon(std::int64_t deadline_ms, Condition&& condition) {
    while (!condition()) {
        if (mono_ms() > deadline_ms) return false;
        const timespec moment{.tv_sec = 0, .tv_nsec = 500'000};
        ::nanosleep(&moment, nullptr);
    }
    return true;
}

std::set<pid_t> pids_in(int group) {
    const std::string text = read_small_file(group, "cgroup.procs", kMostPids);
    std::set<pid_t> pids;
    const char* at = text.data();
    const char* const end = at + text.size();
    while (at < end) {
        pid_t pid = 0;
        at = std::from_chars(at, end, pid).ptr;
        if (pid > 0) pids.insert(pid);
        at = std::find(at, end, '\n');
        if (at < end) ++at;
    }
    return pids;
}

std::vector<Fd> groups_below(int group) {
    std::vector<Fd> found;
    DIR* directory = ::fdopendir(::openat(group, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (directory == nullptr) return found;
    while (const dirent* entry = ::readdir(directory)) {
        if (entry->d_type != DT_DIR || entry->d_name[0] == '.') continue;
        Fd below{::openat(group, entry->d_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
        if (below) found.push_back(std::move(below));
    }
    ::closedir(directory);
    return found;
}

void add_tree(int group, int depth, std::set<pid_t>& into) {
    into.merge(pids_in(group));
    if (depth == kDeepest) return;
    for (const Fd& below : groups_below(group)) add_tree(below.get(), depth + 1, into);
}

bool reads_frozen(int group) {
    return read_small_file(group, "cgroup.events", 256).find("frozen 1") != std::string::npos;
}

Status does_not_stop(pid_t pid, const std::string& name) {
    return refusal(Errc::failed_precondition,
                   "process " + std::to_string(pid) + " (" + name + ") does not stand still");
}

}  // namespace

Status StandStill::begin() {
    if (active_) return {};
    active_ = true;
    Status status = freeze_groups();
    if (status.code == 0) status = stop_others();
    if (status.code != 0) end();
    return status;
}

// Where the agent is in the directory's own group, too, that one must go on.
Status StandStill::freeze_groups() {
    if (groups_ < 0) return {};
    std::vector<Fd> candidates;
    if (pids_in(groups_).contains(::getpid())) {
        candidates = groups_below(groups_);
    } else {
        candidates.emplace_back(::fcntl(groups_, F_DUPFD_CLOEXEC, 3));
    }
    const std::int64_t deadline = mono_ms() + kPatienceMs;
    for (Fd& group : candidates) {
        // Frozen by somebody inside, and to stay so; or a kernel without a freezer, where stop_others does
        // it.
        if (!read_small_file(group.get(), "cgroup.freeze", 16).starts_with('0')) continue;
        if (!write_small_file(group.get(), "cgroup.freeze", "1")) continue;
        frozen_.push_back(std::move(group));
    }
    for (const Fd& group : frozen_) {
        if (soon(deadline, [&] { return reads_frozen(group.get()); })) continue;
        return refusal(Errc::failed_precondition, "a command does not stand still");
    }
    return {};
}

// Level by level from the top: a shell that still runs would see its child stop, and take it for a job that
// its user has suspended. Again until a look finds nobody new, for those who were forking meanwhile.
Status StandStill::stop_others() {
    std::set<pid_t> done;
    for (const Fd& group : frozen_) add_tree(group.get(), 0, done);
    const std::int64_t deadline = mono_ms() + kPatienceMs;
    for (bool found = true; found;) {
        found = false;
        const ProcEntries processes = all_processes();
        for (const pid_t pid : own_programs(processes, ::getpid())) {
            if (!done.insert(pid).second) continue;
            found = true;
            if (processes.at(pid).is_stopped()) continue;
            if (::kill(pid, SIGSTOP) != 0) continue;
            stopped_.push_back(pid);
            const bool stood = soon(deadline, [&] {
                const auto now = one_process(pid);
                return !now || now->is_stopped() || now->is_dead();
            });
            if (!stood) return does_not_stop(pid, processes.at(pid).name);
        }
    }
    return {};
}

// From the bottom, for the same reason.
void StandStill::end() {
    for (; !stopped_.empty(); stopped_.pop_back()) ::kill(stopped_.back(), SIGCONT);
    for (; !frozen_.empty(); frozen_.pop_back()) {
        static_cast<void>(write_small_file(frozen_.back().get(), "cgroup.freeze", "0"));
    }
    active_ = false;
}

}  // namespace oyat::agent
