#include "agent/child.hpp"

#include <fcntl.h>
#include <linux/close_range.h>
#include <linux/openat2.h>
#include <linux/sched.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <climits>
#include <csignal>
#include <cstring>

#include "base/fd.hpp"

// The code between clone and exec. It runs in the agent's own memory (CLONE_VM), so it allocates nothing,
// locks nothing and calls the kernel directly wherever libc would keep books about threads or ids.
namespace oyat::agent {
namespace {

constexpr int kLongestStartMs = 3000;

struct Birth {
    const ChildPlan& plan;
    ChildFailure& failure;
};

// The child's stack. One is enough: the agent waits for the exec, and a held child has a copy.
alignas(16) char child_stack[32 * 1024];

[[noreturn]] void give_up(const Birth& birth, ChildStep step) {
    birth.failure = {.step = step, .err = errno};
    if (birth.plan.result >= 0) {
        static_cast<void>(::write(birth.plan.result, &birth.failure, sizeof birth.failure));
    }
    ::_exit(127);
}

// A held child keeps nothing of the agent's but its stdio and two pipes: else a connection that the agent
// closes would stay open in here.
void keep_only(int a, int b) {
    const unsigned low = static_cast<unsigned>(a < b ? a : b);
    const unsigned high = static_cast<unsigned>(a < b ? b : a);
    if (low > 3) ::syscall(SYS_close_range, 3, low - 1, 0);
    if (high > low + 1) ::syscall(SYS_close_range, low + 1, high - 1, 0);
    ::syscall(SYS_close_range, high + 1, ~0u, 0);
}

void wait_for_go(const ChildPlan& plan) {
    char go = 0;
    ssize_t got = 0;
    do got = ::read(plan.go, &go, 1);
    while (got < 0 && errno == EINTR);
    if (got != 1) ::_exit(127);
}

// Opens a path as the user that we are by now. Magic links are refused: through /proc/self/fd the agent's own
// descriptors are still in reach here, through /proc/self/exe its program, and through /proc/PID/root
// directories outside (threats J-12, J-14).
int look_up(const char* path, std::uint64_t flags) {
    open_how how{.flags = O_PATH | O_CLOEXEC | flags, .mode = 0, .resolve = RESOLVE_NO_MAGICLINKS};
    const long fd = ::syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
    // gVisor has no openat2, and its /proc holds nothing of the host.
    if (fd < 0 && errno == ENOSYS) return ::open(path, static_cast<int>(how.flags));
    return static_cast<int>(fd);
}

bool enter(const char* directory) {
    const int fd = look_up(directory, O_DIRECTORY);
    if (fd < 0 || ::fchdir(fd) != 0) return false;
    char path[PATH_MAX];
    const long length = ::syscall(SYS_getcwd, path, sizeof path);
    if (length > 0 && path[0] == '/') return true;
    errno = ENOENT;  // "(unreachable)/...": not below our root
    return false;
}

void take_identity(const Birth& birth) {
    const ChildPlan& plan = birth.plan;
    if (!plan.change_identity) return;
    if (::syscall(SYS_setgroups, plan.group_count, plan.groups) != 0 ||
        ::syscall(SYS_setresgid, plan.gid, plan.gid, plan.gid) != 0 ||
        ::syscall(SYS_setresuid, plan.uid, plan.uid, plan.uid) != 0) {
        give_up(birth, ChildStep::identity);
    }
    // Where fs.suid_dumpable is 1 the change of user has just made the shared memory open to ptrace.
    ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
}

void set_limits(const Birth& birth) {
    const rlimit files{.rlim_cur = birth.plan.nofile, .rlim_max = birth.plan.nofile};
    const rlimit none{.rlim_cur = 0, .rlim_max = 0};
    if (::syscall(SYS_prlimit64, 0, RLIMIT_NOFILE, &files, nullptr) != 0 ||
        ::syscall(SYS_prlimit64, 0, RLIMIT_CORE, &none, nullptr) != 0) {
        give_up(birth, ChildStep::limits);
    }
    if (!birth.plan.reset_oom_score) return;
    // The agent may be protected from the OOM killer; what it starts is not.
    const int file = ::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC);
    if (file >= 0) static_cast<void>(::write(file, "0", 1));
}

// Tries each candidate as execvp(3) does, and remembers the most telling failure.
void execute(const ChildPlan& plan) {
    int err = ENOENT;
    for (const char* const* program = plan.candidates; *program != nullptr; ++program) {
        if (look_up(*program, 0) >= 0) ::execve(*program, plan.argv, plan.envp);
        if (errno == ELOOP) errno = EACCES;
        if (errno == ENOEXEC) {
            plan.shell_argv[1] = const_cast<char*>(*program);
            ::execve("/bin/sh", plan.shell_argv, plan.envp);
        }
        if (errno == EACCES) err = EACCES;
        if (errno != ENOENT && errno != ENOTDIR && errno != EACCES) {
            err = errno;
            break;
        }
    }
    errno = err;
}

[[noreturn]] void be_child(const Birth& birth) {
    const ChildPlan& plan = birth.plan;
    if (::syscall(SYS_setsid) < 0) give_up(birth, ChildStep::session);
    for (int i = 0; i < 3; ++i) ::dup2(plan.stdio[static_cast<std::size_t>(i)], i);
    if (plan.go >= 0) {
        keep_only(plan.go, plan.result);
        wait_for_go(plan);
    }
    if (plan.terminal && ::ioctl(0, TIOCSCTTY, 0) != 0) give_up(birth, ChildStep::terminal);
    set_limits(birth);
    take_identity(birth);
    const bool entered =
        enter(plan.cwd) || (plan.fallback_cwd != nullptr && errno == ENOENT && enter(plan.fallback_cwd));
    if (!entered) give_up(birth, ChildStep::directory);
    // Everything of the agent's is close-on-exec already; this holds even where one was forgotten.
    ::syscall(SYS_close_range, 3, ~0u, CLOSE_RANGE_CLOEXEC);
    const std::uint64_t no_signals = 0;
    ::syscall(SYS_rt_sigprocmask, SIG_SETMASK, &no_signals, nullptr, sizeof no_signals);
    execute(plan);
    give_up(birth, ChildStep::program);
}

void run_birth(void* birth) {
    be_child(*static_cast<Birth*>(birth));
}

// clone3(2) with a stack for the child. In the child `function(argument)` runs and must not return.
long clone_with(clone_args& arguments, void (*function)(void*), void* argument) {
#if defined(__x86_64__)
    long result = SYS_clone3;
    register auto child_function __asm__("r8") = function;
    register auto child_argument __asm__("r9") = argument;
    __asm__ volatile(
        "syscall\n\t"
        "testq %%rax, %%rax\n\t"
        "jnz 1f\n\t"
        "xorl %%ebp, %%ebp\n\t"
        "movq %%r9, %%rdi\n\t"
        "callq *%%r8\n\t"
        "hlt\n"
        "1:"
        : "+a"(result)
        : "D"(&arguments), "S"(sizeof arguments), "r"(child_function), "r"(child_argument)
        : "rcx", "r11", "memory", "cc");
#elif defined(__aarch64__)
    register long result __asm__("x0") = reinterpret_cast<long>(&arguments);
    register long size __asm__("x1") = sizeof arguments;
    register long number __asm__("x8") = SYS_clone3;
    register auto child_function __asm__("x9") = function;
    register auto child_argument __asm__("x10") = argument;
    __asm__ volatile(
        "svc #0\n\t"
        "cbnz x0, 1f\n\t"
        "mov x29, xzr\n\t"
        "mov x0, x10\n\t"
        "blr x9\n\t"
        "brk #1\n"
        "1:"
        : "+r"(result)
        : "r"(size), "r"(number), "r"(child_function), "r"(child_argument)
        : "memory", "cc");
#else
#error "oyat-agent knows x86-64 and arm64"
#endif
    if (result >= 0) return result;
    errno = static_cast<int>(-result);
    return -1;
}

pid_t clone_child(const ChildPlan& plan, ChildFailure& failure, std::uint64_t flags) {
    failure = {};
    Birth birth{plan, failure};
    clone_args arguments{};
    arguments.flags = flags;
    arguments.exit_signal = SIGCHLD;
    arguments.stack = reinterpret_cast<std::uintptr_t>(child_stack);
    arguments.stack_size = sizeof child_stack;
    if (plan.cgroup >= 0) {
        // Born in its group: moving it there later would wait for a grace period of the kernel.
        arguments.flags |= CLONE_INTO_CGROUP;
        arguments.cgroup = static_cast<std::uint64_t>(plan.cgroup);
    }
    const long pid = clone_with(arguments, run_birth, &birth);
    if (pid < 0) failure = {.step = ChildStep::group, .err = errno};
    return static_cast<pid_t>(pid);
}

}  // namespace

// The exec, or the child's end, closes the pipe. Not CLONE_VFORK: that waits for a stopped child for ever.
// Until then the two share one `errno`, so nothing here may set it; no handler is installed that could
// interrupt.
pid_t start_child(const ChildPlan& plan, ChildFailure& failure) {
    std::array<int, 2> ends{};
    if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
        failure = {.step = ChildStep::group, .err = errno};
        return -1;
    }
    Fd reader{ends[0]};
    Fd writer{ends[1]};
    const pid_t pid = clone_child(plan, failure, CLONE_VM);
    if (pid < 0) return pid;
    writer.reset();
    pollfd exec{.fd = reader.get(), .events = POLLIN, .revents = 0};
    if (::poll(&exec, 1, kLongestStartMs) == 0) {
        ::kill(pid, SIGKILL);
        ::poll(&exec, 1, -1);
        if (failure.step == ChildStep::started) failure = {.step = ChildStep::held_up, .err = ETIMEDOUT};
    }
    if (failure.step == ChildStep::started) return pid;
    while (::waitpid(pid, nullptr, 0) < 0 && errno == EINTR) {
    }
    return -1;
}

pid_t start_held_child(const ChildPlan& plan, ChildFailure& failure) {
    return clone_child(plan, failure, 0);
}

}  // namespace oyat::agent
