#include "agent/process_table.hpp"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>

#include "base/assert.hpp"

namespace oyat::agent {
namespace {

// SIGCHLD is blocked by main, so that it only arrives here.
Fd child_signals() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGCHLD);
    return Fd{::signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC)};
}

}  // namespace

ProcessTable::ProcessTable(Loop& loop, Fd cgroup)
    : loop_{loop},
      groups_{std::move(cgroup)},
      signals_{child_signals()},
      readiness_{loop, [this](std::uint32_t) { reap(); }} {
    OYAT_ASSERT(signals_);
    readiness_.arm(signals_.get(), EPOLLIN);
}

Process& ProcessTable::add(Launched launched, wire::Spawn request, std::string user) {
    const pid_t pid = launched.pid;
    // The kernel has given the number of a dead process away again: nobody can ask for the old one any more.
    if (Process* old = find(pid)) forget(*old);
    auto process =
        std::make_unique<Process>(loop_, *this, std::move(launched), std::move(request), std::move(user));
    return *processes_.emplace(pid, std::move(process)).first->second;
}

Process* ProcessTable::find(pid_t pid) {
    const auto found = processes_.find(pid);
    return found == processes_.end() ? nullptr : found->second.get();
}

const Process* ProcessTable::after(pid_t pid) const {
    const auto next = processes_.upper_bound(pid);
    return next == processes_.end() ? nullptr : next->second.get();
}

void ProcessTable::ended(Process& process) {
    ended_.push_back(&process);
    if (ended_.size() > kMaxEnded) forget(*ended_.front());
}

void ProcessTable::forget(Process& process) {
    const auto found = processes_.find(process.pid());
    if (found == processes_.end() || found->second.get() != &process) return;
    std::erase(ended_, &process);
    process.leave_stream();
    loop_.bury(std::move(found->second));
    processes_.erase(found);
}

void ProcessTable::reap() {
    signalfd_siginfo info;
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
    }
    bool orphans = false;
    while (true) {
        int status = 0;
        rusage usage{};
        const pid_t pid = ::wait4(-1, &status, WNOHANG, &usage);
        if (pid <= 0) break;
        Process* process = find(pid);
        if (process != nullptr && !process->leader_has_ended()) {
            process->leader_ended(status, usage);
        } else {
            orphans = true;
        }
    }
    if (orphans) groups_.sweep();
}

}  // namespace oyat::agent
