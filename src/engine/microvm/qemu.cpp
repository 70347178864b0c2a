#include "engine/microvm/qemu.hpp"

#include <fcntl.h>
#include <grp.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/sched.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "base/throwing.hpp"

// The child is a copy of a single-threaded process, so what runs in it before the exec may allocate and
// throw.
namespace oyat::microvm {
namespace {

constexpr int kLowestMovedFd = 100;  // above all that QEMU gets
constexpr std::size_t kMostOfAComplaint = 300;

void join(const std::vector<Fd>& groups) {
    for (const Fd& group : groups) sys(::write(group.get(), "0", 1), "join the control group");
}

// As for a jail: the keeper is spared when the machine runs out of memory, a sandbox is not.
void become_killable() {
    std::ofstream{"/proc/self/oom_score_adj"} << "0";
}

void limit_resources() {
    const rlimit no_core{0, 0};
    sys(::setrlimit(RLIMIT_CORE, &no_core), "forbid core dumps");
    const rlimit files{1024, 1024};
    sys(::setrlimit(RLIMIT_NOFILE, &files), "limit open files");
}

void drop_privileges(uid_t user) {
    for (int cap = 0; cap <= CAP_LAST_CAP; ++cap) {
        if (::prctl(PR_CAPBSET_DROP, cap, 0, 0, 0) != 0 && errno != EINVAL)
            throw errno_error(errno, "drop a capability");
    }
    sys(::setgroups(0, nullptr), "drop groups");
    sys(::setresgid(user, user, user), "become the sandbox's group");
    sys(::setresuid(user, user, user), "become the sandbox's user");  // empties all sets of capabilities
    sys(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), "set no_new_privs");
}

void place_descriptors(const std::vector<int>& descriptors, int complaints) {
    std::vector<int> moved;
    for (const int fd : descriptors)
        moved.push_back(sys(::fcntl(fd, F_DUPFD, kLowestMovedFd), "move a descriptor"));
    const int said = sys(::fcntl(complaints, F_DUPFD, kLowestMovedFd), "move a descriptor");
    const int null = sys(::open("/dev/null", O_RDWR), "open /dev/null");
    sys(::dup2(null, STDIN_FILENO), "place a descriptor");
    sys(::dup2(null, STDOUT_FILENO), "place a descriptor");
    sys(::dup2(said, STDERR_FILENO), "place a descriptor");
    int place = kFirstDescriptor;
    for (const int fd : moved) sys(::dup2(fd, place++), "place a descriptor");
    sys(::syscall(SYS_close_range, 3, kFirstDescriptor - 1, 0), "close descriptors");
    sys(::syscall(SYS_close_range, place, ~0U, 0), "close descriptors");
}

void execute(const Start& start, const std::vector<Fd>& groups, int complaints) {
    ::setsid();
    join(groups);
    become_killable();
    limit_resources();
    sys(::setns(start.netns, CLONE_NEWNET), "enter the network namespace");
    enter_cage(start.cage, start.files, start.with_kvm);
    place_descriptors(start.descriptors, complaints);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
    drop_privileges(start.user);
    // After the change of user, which would clear it.
    if (start.life == Start::Life::with_us) ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    std::vector<char*> argv;
    for (const std::string& word : start.command) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    std::array<char*, 1> environment{nullptr};
    sys(::execve(kProgram, argv.data(), environment.data()), std::string{"execute "} + kProgram);
}

}  // namespace

Qemu::Qemu(const Start& start) {
    std::array<int, 2> ends{};
    sys(::pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK), "make a pipe");
    complaints_ = Fd{ends[0]};
    const Fd writer{ends[1]};
    const std::vector<Fd> groups = start.group != nullptr ? start.group->join_fds() : std::vector<Fd>{};
    const Fd tree = start.group != nullptr ? start.group->tree_fd() : Fd{};
    int pidfd = -1;
    clone_args args{};
    args.flags = CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_PIDFD | CLONE_CLEAR_SIGHAND;
    args.pidfd = reinterpret_cast<std::uint64_t>(&pidfd);
    args.exit_signal = SIGCHLD;
    if (tree) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = static_cast<std::uint64_t>(tree.get());
    }
    const long pid = sys(::syscall(SYS_clone3, &args, sizeof args), "start QEMU");
    if (pid == 0) {
        try {
            execute(start, groups, writer.get());
        } catch (const std::exception& error) {
            const std::string_view what = error.what();
            // Once its descriptors are placed, the pipe is where QEMU would complain.
            if (::write(writer.get(), what.data(), what.size()) < 0) {
                static_cast<void>(::write(STDERR_FILENO, what.data(), what.size()));
            }
        }
        ::_exit(127);
    }
    process_ = {.pid = static_cast<pid_t>(pid),
                .start_ticks = engine::start_ticks_of(static_cast<pid_t>(pid)).value_or(0),
                .pidfd = Fd{pidfd}};
}

Qemu::~Qemu() {
    if (!held_) return;
    engine::kill_process(process_);
    engine::wait_for_end(process_);
}

std::string Qemu::complaint() const {
    std::array<char, 4096> space{};
    const ssize_t got = ::read(complaints_.get(), space.data(), space.size());
    std::string text{space.data(), static_cast<std::size_t>(std::max<ssize_t>(0, got))};
    std::ranges::replace(text, '\n', ' ');
    return text.substr(0, kMostOfAComplaint);
}

pid_t Qemu::let_go() noexcept {
    held_ = false;
    return process_.pid;
}

}  // namespace oyat::microvm
