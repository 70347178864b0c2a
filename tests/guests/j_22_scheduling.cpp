// Signals reach own processes only; no real-time class, no priority above the normal one.
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "guest.hpp"

int main() {
    Guest guest{"J-22"};
    guest.must_fail("kill the host's high pids", kill(3'000'000, 0), {ESRCH});
    guest.must_hold("signal 0 to pid 1 of the host is pid 1 of the sandbox",
                    kill(1, 0) == 0 || errno == EPERM);
    sched_param parameters{};
    parameters.sched_priority = 50;
    guest.must_fail("SCHED_FIFO", sched_setscheduler(0, SCHED_FIFO, &parameters), {EPERM});
    guest.must_fail("SCHED_RR", sched_setscheduler(0, SCHED_RR, &parameters), {EPERM});
    guest.must_fail("nice -20", setpriority(PRIO_PROCESS, 0, -20), {EPERM, EACCES});
    guest.must_fail("ioprio real-time", syscall(SYS_ioprio_set, 1, 0, (1 << 13) | 0), {EPERM});
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_max += 1;
    guest.must_fail("raise a hard limit", setrlimit(RLIMIT_NOFILE, &limit), {EPERM});
    // SIGKILL to the init of a pid namespace from inside is ignored by the kernel.
    kill(1, SIGKILL);
    guest.must_hold("pid 1 survives SIGKILL", access("/proc/1/stat", F_OK) == 0);
    // Outliving others when the machine runs out of memory.
    const int score = open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    guest.must_fail("oom_score_adj -1", write(score, "-1", 2), {EACCES});
    return guest.finish();
}
