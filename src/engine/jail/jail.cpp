#include "engine/jail/jail.hpp"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/sched.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>

#include "base/defer.hpp"
#include "base/throwing.hpp"
#include "engine/jail/facts.hpp"
#include "engine/jail/owner.hpp"
#include "engine/jail/seccomp_filter.hpp"
#include "netns/visit.hpp"

#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

namespace oyat::jail {
namespace {

constexpr int kLowestPassedFd = 16;  // above every number that the child dups to
constexpr int kStartWaitMs = 5000;

constexpr std::uint64_t bits(std::initializer_list<unsigned> caps) {
    std::uint64_t all = 0;
    for (const unsigned cap : caps) all |= std::uint64_t{1} << cap;
    return all;
}
// What root inside needs for apt, dpkg, sudo and servers. The network namespace is not the jail's, so the
// NET_ ones are without effect on it.
constexpr std::uint64_t kKeptCapabilities =
    bits({CAP_CHOWN, CAP_DAC_OVERRIDE, CAP_FSETID, CAP_FOWNER, CAP_KILL, CAP_SETGID, CAP_SETUID, CAP_SETPCAP,
          CAP_SETFCAP, CAP_NET_BIND_SERVICE, CAP_SYS_CHROOT, CAP_NET_RAW, CAP_AUDIT_WRITE});

Fd load_agent(const std::string& path) {
    const Fd file{sys(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "open the agent " + path)};
    struct stat status{};
    sys(::fstat(file.get(), &status), "stat the agent");
    constexpr unsigned flags = MFD_CLOEXEC | MFD_ALLOW_SEALING;
    int made = ::memfd_create("oyat-agent", flags | MFD_EXEC);
    if (made < 0) made = ::memfd_create("oyat-agent", flags);  // before Linux 6.3 there is no MFD_EXEC
    Fd memory{sys(made, "make a memfd for the agent")};
    for (off_t at = 0; at < status.st_size;) {
        const auto left = static_cast<std::size_t>(status.st_size - at);
        if (sys(::sendfile(memory.get(), file.get(), &at, left), "copy the agent") == 0) {
            throw Error{Errc::internal, Fault::oyat_operator, "the agent " + path + " became shorter"};
        }
    }
    sys(::fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE),
        "seal the agent");
    return Fd{sys(::fcntl(memory.get(), F_DUPFD_CLOEXEC, kLowestPassedFd), "move the agent's descriptor")};
}

struct Pipe {
    Fd reader;
    Fd writer;
};

Pipe make_pipe() {
    std::array<int, 2> ends{};
    sys(::pipe2(ends.data(), O_CLOEXEC), "make a pipe");
    return {Fd{ends[0]}, Fd{ends[1]}};
}

Fd raised(int fd) {
    return Fd{sys(::fcntl(fd, F_DUPFD_CLOEXEC, kLowestPassedFd), "raise a descriptor")};
}

// A time namespace's boot lies just before the jail's start, so that `uptime` inside is the sandbox's own.
std::string boot_offset() {
    timespec now{};
    ::clock_gettime(CLOCK_BOOTTIME, &now);
    return "boottime -" + std::to_string(now.tv_sec) + " 0";
}

void write_id_map(pid_t pid, const char* file, const layers::IdRange& range) {
    const std::string path = "/proc/" + std::to_string(pid) + "/" + file;
    const std::string map = "0 " + std::to_string(range.base) + " " + std::to_string(layers::IdRange::kSize);
    const Fd fd{sys(::open(path.c_str(), O_WRONLY | O_CLOEXEC), std::string{"open "} + file)};
    sys(::write(fd.get(), map.data(), map.size()), std::string{"write "} + file);
}

// Written by us it is a floor for everybody inside: the keeper may be spared when the machine runs out of
// memory, a sandbox may not spare itself at the cost of others. Refused where the floor is above that
// already.
void make_killable(pid_t pid) {
    const std::string path = "/proc/" + std::to_string(pid) + "/oom_score_adj";
    const Fd fd{sys(::open(path.c_str(), O_WRONLY | O_CLOEXEC), "open oom_score_adj")};
    if (::write(fd.get(), "0", 1) < 0 && errno != EACCES) throw errno_error(errno, "write oom_score_adj");
}

// Nothing when the pipe closed without a word: the exec closed it.
std::optional<Failure> wait_for_exec(int report) {
    pollfd wait{report, POLLIN, 0};
    const int ready = sys(::poll(&wait, 1, kStartWaitMs), "wait for the jail");
    if (ready == 0) throw Error{Errc::deadline, Fault::engine, "the jail did not start within 5 s"};
    Failure failure;
    const ssize_t n = sys(::read(report, &failure, sizeof failure), "read from the jail");
    if (n == 0) return std::nullopt;
    return failure;
}

}  // namespace

// The words that a child's plan points to. Neither copied nor moved: the plan holds their addresses.
struct Launcher::Texts {
    explicit Texts(const Parts& parts)
        : id{parts.id},
          facts{"facts/" + id},
          sys_dir{facts + "/sys"},
          generation{"--generation=" + std::to_string(parts.generation)},
          uptime{boot_offset()},
          sources{facts + "/proc/meminfo", facts + "/proc/stat", facts + "/proc/cpuinfo",
                  facts + "/" + kBootId},
          host_line{id + "\n"},
          hosts{"127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n127.0.1.1 " + id + "\n" +
                std::string{parts.extra_hosts}} {
        // Anybody may open its files for writing: each open asks the kernel to watch the machine's load.
        if (::access("/proc/pressure", F_OK) == 0) covers.push_back({"empty", "root/proc/pressure"});
    }
    Texts(const Texts&) = delete;
    Texts& operator=(const Texts&) = delete;

    const std::string id;
    const std::string facts;
    const std::string sys_dir;
    const std::string generation;
    const std::string uptime;

    const std::array<std::string, 4> sources;
    const std::string host_line;
    const std::string hosts;

    std::vector<Cover> covers{{sources[0].c_str(), "root/proc/meminfo"},
                              {sources[1].c_str(), "root/proc/stat"},
                              {sources[2].c_str(), "root/proc/cpuinfo"},
                              {sources[3].c_str(), "root/proc/sys/kernel/random/boot_id"},
                              {"blank", "root/proc/cmdline"}};  // how the host was booted
    const std::array<OwnFile, 2> own_files{OwnFile{"/etc/hostname", host_line.data(), host_line.size()},
                                           OwnFile{"/etc/hosts", hosts.data(), hosts.size()}};
    const std::array<const char*, 3> argv{"oyat-agent", generation.c_str(), nullptr};
    const std::array<const char*, 1> envp{nullptr};
};

// The descriptors that it names, and the keeper's ends of the two pipes.
struct Launcher::Descriptors {
    Descriptors(const Parts& parts, int extra_tasks)
        : report_writer{raised(report.writer.get())},
          listener{raised(parts.listener)},
          joins{parts.group->join_fds()},
          tree{parts.group->tree_fd()},
          raised_tree{tree ? raised(tree.get()) : Fd{}} {
        report.writer.reset();
        for (const Fd& fd : joins) tasks.push_back(fd.get());
        if (extra_tasks >= 0) tasks.push_back(extra_tasks);
    }

    Pipe go = make_pipe();
    Pipe report = make_pipe();
    Fd report_writer;
    Fd listener;

    std::vector<Fd> joins;

    std::vector<int> tasks;
    Fd tree;
    Fd raised_tree;
};

Launcher::Launcher(const std::string& work_dir, const std::string& agent,
                   const cgroup::Hierarchies& hierarchies, std::string_view groups)
    : cgroup_view_{hierarchies, groups},
      workshop_{work_dir, cgroup_view_},
      agent_{load_agent(agent)},
      filter_{build_seccomp_filter()},
      time_namespaces_{::access("/proc/self/ns/time_for_children", F_OK) == 0} {}

ChildPlan Launcher::plan_for(const Parts& parts, const Texts& texts, const Descriptors& fds) const {
    return {
        .maps_ready = fds.go.reader.get(),
        .maps_ready_writer = fds.go.writer.get(),
        .report = fds.report_writer.get(),
        .v1_tasks = {fds.tasks.data(), fds.tasks.size()},
        .uptime = time_namespaces_ ? texts.uptime.c_str() : nullptr,
        .root = parts.root,
        .covers = {texts.covers.data(), texts.covers.size()},
        .sys = texts.sys_dir.c_str(),
        .cgroups = {cgroup_view_.mounts().data(), cgroup_view_.mounts().size()},
        .host_name = texts.id.c_str(),
        .host_name_length = texts.id.size(),
        .own_files = {texts.own_files.data(), texts.own_files.size()},
        .open_files = parts.open_files,
        .kept_capabilities = kKeptCapabilities,
        .listener = fds.listener.get(),
        .cgroup_tree = fds.raised_tree.get(),
        .filter = {static_cast<unsigned short>(filter_.size()), const_cast<sock_filter*>(filter_.data())},
        .agent = agent_.get(),
        .argv = texts.argv.data(),
        .envp = texts.envp.data(),
    };
}

engine::Process Launcher::clone_child(const ChildPlan& plan, const Parts& parts, int v2_group) const {
    int pidfd = -1;
    clone_args args{};
    args.flags = CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWPID | CLONE_NEWIPC | CLONE_NEWUTS | CLONE_PIDFD |
                 CLONE_CLEAR_SIGHAND;
    args.pidfd = reinterpret_cast<std::uint64_t>(&pidfd);
    args.exit_signal = SIGCHLD;
    if (v2_group >= 0) {
        args.flags |= CLONE_INTO_CGROUP;
        args.cgroup = static_cast<std::uint64_t>(v2_group);
    }
    workshop_.enter();
    // Entered before the user namespace exists, so that the network stays the initial one's and root inside
    // has no capability over it.
    const netns::Visit inside{parts.netns};
    const Owner owner{parts.range.base};
    const long pid = sys(::syscall(SYS_clone3, &args, sizeof args), "clone the first process");
    if (pid == 0) run_child(plan);
    return {.pid = static_cast<pid_t>(pid), .pidfd = Fd{pidfd}};
}

engine::Process Launcher::start(const Parts& parts) const {
    workshop_.make_facts(parts.id);
    Defer forget_facts{[&] { workshop_.remove_facts(parts.id); }};
    const Texts texts{parts};
    Descriptors fds{parts, cgroup_view_.tasks_to_join()};
    engine::Process process = clone_child(plan_for(parts, texts, fds), parts, fds.tree.get());
    Defer end_child{[&] {
        engine::kill_process(process);
        engine::wait_for_end(process);
    }};
    fds.report_writer.reset();
    write_id_map(process.pid, "uid_map", parts.range);
    write_id_map(process.pid, "gid_map", parts.range);
    make_killable(process.pid);
    sys(::write(fds.go.writer.get(), "1", 1), "release the first process");
    if (const std::optional<Failure> failure = wait_for_exec(fds.report.reader.get())) {
        throw errno_error(failure->error, to_string(failure->step));
    }
    if (engine::has_ended(process)) {
        throw Error{Errc::internal, Fault::engine, "the jail's first process died at its start"};
    }
    process.start_ticks = engine::start_ticks_of(process.pid).value_or(0);
    end_child.dismiss();
    forget_facts.dismiss();
    return process;
}

}  // namespace oyat::jail
