#include "layers/sweeper.hpp"

#include <linux/sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/log.hpp"
#include "base/throwing.hpp"
#include "layers/low_priority.hpp"

namespace oyat::layers {
namespace {

[[noreturn]] void sweep(const Store& store) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);  // the next keeper starts its own
    const int trash = become_low_priority_with(store.trash_directory());
    try {
        store.remove_discarded(trash);
        ::_exit(0);
    } catch (const Error& e) {
        log::error("removing discarded boxes failed", {{"error", e.what()}});
        ::_exit(1);
    }
}

}  // namespace

Sweeper::~Sweeper() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, __WALL);
}

void Sweeper::kick() {
    if (pid_ > 0 || store_.trash() == 0) return;
    int pidfd = -1;
    // No exit signal: whoever waits for "any child" of the keeper does not take this one's status.
    clone_args args{
        .flags = CLONE_PIDFD, .pidfd = reinterpret_cast<std::uintptr_t>(&pidfd), .exit_signal = 0};
    pid_ = static_cast<pid_t>(sys(::syscall(SYS_clone3, &args, sizeof args), "start sweeper"));
    if (pid_ == 0) sweep(store_);
    pidfd_ = Fd{pidfd};
}

bool Sweeper::reap() {
    if (pid_ <= 0) return true;
    int status = 0;
    if (sys(::waitpid(pid_, &status, __WALL | WNOHANG), "wait for sweeper") == 0) return true;
    pid_ = -1;
    pidfd_.reset();
    // After a failure the rest waits for the next discard: a new child at once would meet the same error.
    if (status != 0) return false;
    kick();
    return true;
}

void Sweeper::finish() {
    kick();
    while (pid_ > 0) {
        siginfo_t ended{};
        sys(::waitid(P_PIDFD, static_cast<id_t>(pidfd_.get()), &ended, WEXITED | WNOWAIT | __WALL),
            "wait for sweeper");
        if (!reap()) return;
    }
}

}  // namespace oyat::layers
