#include "engine/jail/child.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/close_range.h>
#include <linux/seccomp.h>
#include <linux/securebits.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace oyat::jail {
namespace {

constexpr int kListenerFd = 3;
constexpr int kCgroupFd = 4;
constexpr unsigned kPlain = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV | MOUNT_ATTR_NOEXEC;

int report_fd = -1;

[[noreturn]] void fail(Step step) noexcept {
    const Failure failure{step, errno};
    [[maybe_unused]] const ssize_t n = ::write(report_fd, &failure, sizeof failure);
    ::_exit(127);
}

void check(long result, Step step) noexcept {
    if (result < 0) fail(step);
}

// --- mounts
// -------------------------------------------------------------------------------------------------

struct Option {
    const char* key;
    const char* value;  // null: a flag
};

void configure(int fs, const Option& option, Step step) noexcept {
    check(::fsconfig(fs, option.value == nullptr ? FSCONFIG_SET_FLAG : FSCONFIG_SET_STRING, option.key,
                     option.value, 0),
          step);
}

void attach_created(int fs, unsigned attributes, const char* target, Step step) noexcept {
    check(::fsconfig(fs, FSCONFIG_CMD_CREATE, nullptr, nullptr, 0), step);
    const int mount = ::fsmount(fs, FSMOUNT_CLOEXEC, attributes);
    check(mount, step);
    check(::move_mount(mount, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH), step);
    ::close(mount);
    ::close(fs);
}

template <std::size_t N>
void mount_new(const char* type, const std::array<Option, N>& options, unsigned attributes,
               const char* target, Step step) noexcept {
    const int fs = ::fsopen(type, FSOPEN_CLOEXEC);
    check(fs, step);
    for (const Option& option : options) configure(fs, option, step);
    attach_created(fs, attributes, target, step);
}

// Puts a copy of the mount at `source` onto `target`; with AT_RECURSIVE, of those below it, too.
void bind(const char* source, const char* target, std::uint64_t attributes, Step step,
          unsigned depth = 0) noexcept {
    const int tree =
        ::open_tree(AT_FDCWD, source, OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_SYMLINK_NOFOLLOW | depth);
    check(tree, step);
    mount_attr attr{};
    attr.attr_set = attributes;
    if (attributes != 0) check(::mount_setattr(tree, "", AT_EMPTY_PATH | depth, &attr, sizeof attr), step);
    check(::move_mount(tree, "", AT_FDCWD, target, MOVE_MOUNT_F_EMPTY_PATH), step);
    ::close(tree);
}

// A template without the mount points gets them; what else may stand there makes the mount on it fail.
void make_mount_points() noexcept {
    for (const char* name : {"root/proc", "root/dev", "root/sys"}) ::mkdir(name, 0755);
}

void mount_cgroups(const ChildPlan& plan) noexcept {
    for (const CgroupMount& group : plan.cgroups) {
        const int fs = ::fsopen(group.type, FSOPEN_CLOEXEC);
        check(fs, Step::mount_cgroup);
        for (const char* const* option = group.options; *option != nullptr; ++option) {
            configure(fs, {*option, nullptr}, Step::mount_cgroup);
        }
        // Read-only as a mount, not as a superblock: that one is the machine's. v1 has a file that all may
        // write.
        attach_created(fs, kPlain | MOUNT_ATTR_RDONLY, group.target, Step::mount_cgroup);
    }
}

// Runs in "<work dir>", with the host's /proc still in view: the kernel lets a user namespace mount a new one
// only while it can see an uncovered old one.
void build_root(const ChildPlan& plan) noexcept {
    check(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), Step::private_mounts);
    check(::move_mount(plan.root, "", AT_FDCWD, "root", MOVE_MOUNT_F_EMPTY_PATH), Step::mount_root);
    make_mount_points();
    mount_new("proc", std::array<Option, 0>{}, kPlain, "root/proc", Step::mount_proc);
    for (const Cover& cover : plan.covers) bind(cover.source, cover.target, 0, Step::cover_proc);
    bind("dev", "root/dev", 0, Step::mount_dev);
    mount_new("devpts", std::array<Option, 3>{{{"ptmxmode", "0666"}, {"mode", "0620"}, {"max", "64"}}},
              MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC, "root/dev/pts", Step::mount_pts);
    mount_new("tmpfs", std::array<Option, 3>{{{"size", "64m"}, {"nr_inodes", "4096"}, {"mode", "1777"}}},
              kPlain, "root/dev/shm", Step::mount_shm);
    bind(plan.sys, "root/sys", 0, Step::mount_sys);
    mount_cgroups(plan);
    check(::chdir("root"), Step::pivot);
    check(::syscall(SYS_pivot_root, ".", "."), Step::pivot);
    check(::umount2(".", MNT_DETACH), Step::pivot);
    check(::chdir("/"), Step::pivot);
}

// --- who we are
// ---------------------------------------------------------------------------------------------

void write_text(const char* path, const char* text, Step step) noexcept {
    const int fd = ::open(path, O_WRONLY | O_CLOEXEC);
    check(fd, step);
    check(::write(fd, text, std::strlen(text)), step);
    ::close(fd);
}

void enter_groups_and_namespaces(const ChildPlan& plan) noexcept {
    char go = 0;
    if (::read(plan.maps_ready, &go, 1) != 1) fail(Step::wait_for_maps);
    for (const int tasks : plan.v1_tasks) check(::write(tasks, "0", 1), Step::join_cgroup);
    // After the join, so that /proc/self/cgroup says "/" for each hierarchy.
    check(::unshare(CLONE_NEWCGROUP), Step::cgroup_namespace);
    if (plan.uptime != nullptr) {
        // Before the change of ids, which would make our own /proc files somebody else's.
        check(::unshare(CLONE_NEWTIME), Step::uptime);
        write_text("/proc/self/timens_offsets", plan.uptime, Step::uptime);
        // Only children are in it so far. Kernels before 6.3 do not let the exec follow, and then refuse a
        // child that shares our memory, as the agent's children do until their exec.
        const int own = ::open("/proc/self/ns/time_for_children", O_RDONLY | O_CLOEXEC);
        check(own, Step::uptime);
        check(::setns(own, CLONE_NEWTIME), Step::uptime);
        ::close(own);
    }
    // By number: the C library's forms would look for other threads first.
    check(::syscall(SYS_setgroups, 0, nullptr), Step::identity);
    check(::syscall(SYS_setresgid, 0, 0, 0), Step::identity);
    check(::syscall(SYS_setresuid, 0, 0, 0), Step::identity);
    check(::prctl(PR_SET_SECUREBITS, 0), Step::identity);
}

// Best effort: a template may have no /etc, or a directory of that name. Everything resolves inside by now.
void write_own_files(const ChildPlan& plan) noexcept {
    for (const OwnFile& file : plan.own_files) {
        const int fd =
            ::open(file.path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644);
        if (fd < 0) continue;
        [[maybe_unused]] const ssize_t n = ::write(fd, file.text, file.length);
        ::close(fd);
    }
}

void set_limits(const ChildPlan& plan) noexcept {
    const rlimit files{plan.open_files, plan.open_files};
    check(::setrlimit(RLIMIT_NOFILE, &files), Step::limits);
    const rlimit none{0, 0};
    check(::setrlimit(RLIMIT_CORE, &none), Step::limits);
}

void drop_capabilities(const ChildPlan& plan) noexcept {
    for (unsigned cap = 0; cap < 64; ++cap) {
        if ((plan.kept_capabilities >> cap & 1) != 0) continue;
        if (::prctl(PR_CAPBSET_DROP, cap) != 0) {
            if (errno == EINVAL && cap > CAP_LAST_CAP) return;  // past the last one that this kernel knows
            fail(Step::capabilities);
        }
    }
}

// Handlers are gone by CLONE_CLEAR_SIGHAND; the mask and what is ignored would reach every program inside.
void reset_signals() noexcept {
    ::signal(SIGPIPE, SIG_DFL);
    sigset_t none;
    ::sigemptyset(&none);
    ::sigprocmask(SIG_SETMASK, &none, nullptr);
}

// 0, 1, 2 = /dev/null, 3 = listener, 4 = control group; agent and report stay until the exec closes them.
void arrange_descriptors(const ChildPlan& plan, int& agent) noexcept {
    const int null = ::open("/dev/null", O_RDWR | O_CLOEXEC);
    check(null, Step::descriptors);
    for (int fd = 0; fd < 3; ++fd) check(::dup2(null, fd), Step::descriptors);
    check(::dup2(plan.listener, kListenerFd), Step::descriptors);
    int next = kCgroupFd;
    if (plan.cgroup_tree >= 0) check(::dup2(plan.cgroup_tree, next++), Step::descriptors);
    agent = next++;
    check(::dup3(plan.agent, agent, O_CLOEXEC), Step::descriptors);
    check(::dup3(report_fd, next, O_CLOEXEC), Step::descriptors);
    report_fd = next++;
    check(::close_range(static_cast<unsigned>(next), ~0U, 0), Step::descriptors);
}

}  // namespace

void run_child(const ChildPlan& plan) noexcept {
    report_fd = plan.report;
    ::close(plan.maps_ready_writer);
    enter_groups_and_namespaces(plan);
    build_root(plan);
    check(::sethostname(plan.host_name, plan.host_name_length), Step::host_name);
    write_own_files(plan);
    write_text("/proc/sys/user/max_user_namespaces", "0", Step::close_user_namespaces);
    // Some sysctls belong to a namespace's own root, so that permissions alone would let root inside write
    // them.
    bind("/proc/sys", "/proc/sys", MOUNT_ATTR_RDONLY, Step::read_only_sysctls, AT_RECURSIVE);
    check(::setsid(), Step::session);
    set_limits(plan);
    reset_signals();
    drop_capabilities(plan);
    int agent = -1;
    arrange_descriptors(plan, agent);
    // No NO_NEW_PRIVS, so that sudo works inside: CAP_SYS_ADMIN in our own user namespace suffices, and ends
    // here.
    check(::syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &plan.filter), Step::filter);
    ::execveat(agent, "", const_cast<char* const*>(plan.argv), const_cast<char* const*>(plan.envp),
               AT_EMPTY_PATH);
    fail(Step::execute);
}

std::string_view to_string(Step step) noexcept {
    switch (step) {
        case Step::none: return "start";
        case Step::wait_for_maps: return "wait for the id maps";
        case Step::join_cgroup: return "join the control groups";
        case Step::cgroup_namespace: return "make the cgroup namespace";
        case Step::uptime: return "make the time namespace";
        case Step::identity: return "become the mapped root";
        case Step::private_mounts: return "make mounts private";
        case Step::mount_root: return "move the root into place";
        case Step::mount_proc: return "mount /proc";
        case Step::cover_proc: return "cover a file of /proc";
        case Step::mount_dev: return "mount /dev";
        case Step::mount_pts: return "mount /dev/pts";
        case Step::mount_shm: return "mount /dev/shm";
        case Step::mount_sys: return "mount /sys";
        case Step::mount_cgroup: return "mount /sys/fs/cgroup";
        case Step::pivot: return "pivot to the new root";
        case Step::host_name: return "set the host name";
        case Step::close_user_namespaces: return "close user namespaces";
        case Step::read_only_sysctls: return "make /proc/sys read-only";
        case Step::session: return "start a session";
        case Step::limits: return "set resource limits";
        case Step::capabilities: return "drop capabilities";
        case Step::descriptors: return "arrange descriptors";
        case Step::filter: return "load the system-call filter";
        case Step::execute: return "execute the agent";
    }
    return "start";
}

}  // namespace oyat::jail
