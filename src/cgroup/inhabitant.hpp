#pragma once

#include <fcntl.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <vector>

#include "base/throwing.hpp"
#include "cgroup/group.hpp"

// For the tests of this room: a process that is born in a group the way that a sandbox's pid 1 is.
namespace oyat::cgroup {

class Inhabitant {
public:
    // The child joins, runs `body` and exits with what it returns. It stands in all hierarchies once this is
    // made.
    template <class Body>
    Inhabitant(const Group& group, Body&& body) {
        const Fd tree = group.tree_fd();
        const std::vector<Fd> joins = group.join_fds();
        std::array<int, 2> joined{};
        sys(::pipe2(joined.data(), O_CLOEXEC), "pipe");
        const Fd told{joined[0]};
        Fd tell{joined[1]};
        int pidfd = -1;
        clone_args args{
            .flags = CLONE_PIDFD, .pidfd = reinterpret_cast<std::uintptr_t>(&pidfd), .exit_signal = SIGCHLD};
        if (tree) {
            args.flags |= CLONE_INTO_CGROUP;
            args.cgroup = static_cast<std::uint64_t>(tree.get());
        }
        pid_ = static_cast<pid_t>(sys(::syscall(SYS_clone3, &args, sizeof args), "clone3"));
        if (pid_ == 0) {
            for (const Fd& join : joins) {
                if (::write(join.get(), "0", 1) != 1) ::_exit(99);
            }
            tell.reset();
            ::_exit(body());
        }
        pidfd_ = Fd{pidfd};
        tell.reset();
        char nothing = 0;
        sys(::read(told.get(), &nothing, 1), "wait for the child to join");
    }
    ~Inhabitant() {
        if (pid_ <= 0) return;
        ::kill(pid_, SIGKILL);
        wait();
    }
    Inhabitant(const Inhabitant&) = delete;
    Inhabitant& operator=(const Inhabitant&) = delete;

    [[nodiscard]] pid_t pid() const noexcept { return pid_; }

    // The wait status, or -1 when it did not end within two seconds.
    int wait() {
        pollfd ended{.fd = pidfd_.get(), .events = POLLIN, .revents = 0};
        if (::poll(&ended, 1, 2000) != 1) return -1;
        int status = -1;
        ::waitpid(pid_, &status, 0);
        pid_ = -1;
        return status;
    }

private:
    pid_t pid_ = -1;
    Fd pidfd_;
};

inline int sleep_forever() {
    for (;;) ::pause();
}

}  // namespace oyat::cgroup
