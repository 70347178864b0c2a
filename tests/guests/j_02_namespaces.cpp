// New and foreign namespaces, also from a grandchild that has changed its user.
#include <fcntl.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>

#include "guest.hpp"

namespace {

constexpr struct {
    const char* name;
    unsigned long flag;
} kKinds[] = {{"NEWUSER", CLONE_NEWUSER},    {"NEWNS", CLONE_NEWNS},   {"NEWPID", CLONE_NEWPID},
              {"NEWNET", CLONE_NEWNET},      {"NEWIPC", CLONE_NEWIPC}, {"NEWUTS", CLONE_NEWUTS},
              {"NEWCGROUP", CLONE_NEWCGROUP}};

long new_process(unsigned long flag, bool modern) {
    long pid = 0;
    if (modern) {
        clone_args args{};
        args.flags = flag;
        args.exit_signal = SIGCHLD;
        pid = syscall(SYS_clone3, &args, sizeof args);
    } else {
        pid = syscall(SYS_clone, flag | SIGCHLD, 0, 0, 0, 0);
    }
    if (pid == 0) _exit(0);
    const int err = errno;
    if (pid > 0) waitpid(static_cast<pid_t>(pid), nullptr, 0);
    errno = err;
    return pid;
}

int try_all(Guest& guest) {
    char what[64];
    for (const auto& kind : kKinds) {
        snprintf(what, sizeof what, "unshare(%s)", kind.name);
        guest.must_fail(what, syscall(SYS_unshare, kind.flag), {EPERM});
        snprintf(what, sizeof what, "clone(%s)", kind.name);
        guest.must_fail(what, new_process(kind.flag, false), {EPERM});
        snprintf(what, sizeof what, "clone3(%s)", kind.name);
        // A filter can't look into clone3's argument: the limit of user namespaces answers ENOSPC.
        if (kind.flag == CLONE_NEWUSER)
            guest.must_fail(what, new_process(kind.flag, true), {ENOSPC, EPERM});
        else
            guest.must_fail(what, new_process(kind.flag, true), {EPERM});
    }
    const int own = open("/proc/self/ns/uts", O_RDONLY | O_CLOEXEC);
    guest.must_fail("setns", syscall(SYS_setns, own, 0), {EPERM});
    return guest.finish();
}

}  // namespace

int main() {
    Guest guest{"J-02"};
    try_all(guest);
    const int below = in_child([&] {
        return in_child([&] {
            if (getuid() == 0 && setuid(1000) != 0) return 2;
            return try_all(guest);
        });
    });
    guest.must_hold("a grandchild after setuid", below == 0);
    return guest.finish();
}
