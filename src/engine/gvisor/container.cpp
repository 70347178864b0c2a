#include "engine/gvisor/container.hpp"

#include <fcntl.h>
#include <linux/openat2.h>
#include <poll.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <vector>

#include "base/throwing.hpp"
#include "engine/common/process.hpp"
#include "engine/gvisor/renewal.hpp"
#include "engine/gvisor/run_view.hpp"
#include "layers/directory.hpp"

namespace oyat::gvisor {
namespace {

constexpr Millis kStartLimit{20'000};
constexpr Millis kCheckpointLimit{120'000};
constexpr Millis kAgentLimit{10'000};
constexpr Millis kEndLimit{1000};

// A name in the sandbox's root, whatever that has made of it.
Fd open_inside(int root, const char* path, std::uint64_t flags, std::uint64_t mode = 0) {
    open_how how{.flags = flags | O_CLOEXEC | O_NOFOLLOW,
                 .mode = mode,
                 .resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS};
    return Fd{static_cast<int>(::syscall(SYS_openat2, root, path, &how, sizeof how))};
}

// Acts on files as root inside, for good or until the next.
void act_as(std::uint32_t id) {
    ::setfsgid(id);
    ::setfsuid(id);
}

// Best effort: a template may have no /etc, or a directory of that name.
void write_own_file(int root, const char* path, std::string_view text) {
    const Fd file = open_inside(root, path, O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK, 0644);
    if (file) [[maybe_unused]]
        const ssize_t n = ::write(file.get(), text.data(), text.size());
}

// gVisor lays its own /dev over this one. What it serves from the host within needs mount points in the tree
// that we give it; so that the sandbox's disk is not where they are, there is a file system for them.
void cover_dev(int root) {
    const Fd place = open_inside(root, "dev", O_PATH | O_DIRECTORY);
    sys(place.get(), "open /dev of the template");
    const Fd context{sys(::fsopen("tmpfs", FSOPEN_CLOEXEC), "open a tmpfs")};
    sys(::fsconfig(context.get(), FSCONFIG_SET_STRING, "mode", "0755", 0), "set up a tmpfs");
    sys(::fsconfig(context.get(), FSCONFIG_SET_STRING, "size", "64k", 0), "set up a tmpfs");
    sys(::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0), "make a tmpfs");
    const Fd tree{sys(::fsmount(context.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV),
                      "mount a tmpfs")};
    sys(::mkdirat(tree.get(), ".oyat", 0755), "make a mount point");
    sys(::mkdirat(tree.get(), ".oyat/door", 0755), "make a mount point");
    Fd{sys(::openat(tree.get(), ".oyat/agent", O_CREAT | O_WRONLY | O_CLOEXEC, 0644), "make a mount point")};
    sys(::mkdirat(tree.get(), "shm", 0755), "make a mount point");
    sys(::move_mount(tree.get(), "", place.get(), "", MOVE_MOUNT_F_EMPTY_PATH | MOVE_MOUNT_T_EMPTY_PATH),
        "cover /dev");
}

void prepare_root(const StartPlan& plan) {
    in("prepare the root", [&] {
        const Fd root{sys(::open("/run/root", O_PATH | O_DIRECTORY | O_CLOEXEC), "open it")};
        act_as(plan.first_id);
        ::mkdirat(root.get(), "dev", 0755);  // there already, as a rule
        write_own_file(root.get(), "etc/hostname", plan.id + "\n");
        write_own_file(root.get(), "etc/hosts", plan.hosts);
        act_as(0);
        cover_dev(root.get());
    });
}

// Written by us it is a floor for everybody inside; refused where the floor is above that already.
void make_killable() {
    const Fd file{::open("/proc/self/oom_score_adj", O_WRONLY | O_CLOEXEC)};
    [[maybe_unused]] const ssize_t n = ::write(file.get(), "0", 1);
}

template <class Number>
Number number_at(std::string_view text) {
    Number number{};
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{}) throw Error{Errc::internal, "runsc wrote no number where one was expected"};
    return number;
}

engine::Process living(pid_t pid) {
    const std::optional<std::uint64_t> started = engine::start_ticks_of(pid);
    std::optional<engine::Process> found = started ? engine::find_process(pid, *started) : std::nullopt;
    if (!found) throw Error{Errc::unavailable, Fault::engine, "the sandbox died at its start"};
    return *std::move(found);
}

// The process that serves the sandbox its files: runsc's record names it.
engine::Process holder_of(const std::string& id) {
    const Fd state{sys(::open("/run/state", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open the state")};
    const std::string record = layers::read_file(state.get(), id + "_sandbox:" + id + ".state");
    constexpr std::string_view key = "\"goferPid\":";
    const std::size_t at = record.find(key);
    if (at == std::string::npos) throw Error{Errc::internal, "runsc's record names no gofer"};
    return living(number_at<pid_t>(std::string_view{record}.substr(at + key.size())));
}

void await_knock(const engine::Process& kernel, int knock) {
    std::array<pollfd, 2> wait{pollfd{knock, POLLIN, 0}, pollfd{kernel.pidfd.get(), POLLIN, 0}};
    const int limit = static_cast<int>(kAgentLimit.count());
    if (sys(::poll(wait.data(), wait.size(), limit), "wait for the agent") == 0) {
        throw Error{Errc::deadline, Fault::engine, "its first program did not come to us within 10 s"};
    }
    if (wait[0].revents == 0) throw Error{Errc::unavailable, Fault::engine, "the sandbox died at its start"};
}

}  // namespace

pid_t start_container(const Runsc& runsc, const Homes& homes, const StartPlan& plan) {
    make_killable();
    const rlimit none{0, 0};  // a core would hold the sandbox's memory
    sys(::setrlimit(RLIMIT_CORE, &none), "limit core dumps");
    sys(::setns(plan.outer_network, CLONE_NEWNET), "enter the sandbox's network");
    enter_run_view({.state = plan.state,
                    .root = plan.root,
                    .door = plan.door,
                    .agent = plan.agent,
                    .network = plan.inner_network,
                    .image = plan.memory});
    prepare_root(plan);
    write_bundle(plan.bundle);
    std::vector<std::string> command{plan.memory >= 0 ? "restore" : "run", "--detach", "--bundle=/run/bundle",
                                     "--pid-file=/run/pid"};
    if (plan.memory >= 0) command.emplace_back("--image-path=/run/image");
    command.push_back(plan.id);
    runsc.run(command, kStartLimit, plan.output);
    const engine::Process kernel = living(number_at<pid_t>(layers::read_file(AT_FDCWD, "/run/pid")));
    homes.note(plan.id, kKernel, kernel);
    homes.note(plan.id, kHolder, holder_of(plan.id));
    await_knock(kernel, plan.knock);
    if (plan.memory >= 0 && plan.generation != 0) {
        renew(plan.knock, plan.generation, plan.id);
        await_knock(kernel, plan.knock);
    }
    return kernel.pid;
}

void checkpoint_container(const Runsc& runsc, std::string_view id, int state, int into) {
    enter_run_view({.state = state, .image = into});
    runsc.run({"checkpoint", "--image-path=/run/image", std::string{id}}, kCheckpointLimit);
    const Fd image{sys(::open("/run/image", O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open the image")};
    for (const std::string& name : layers::names_in(image.get())) {
        const Fd file{sys(::openat(image.get(), name.c_str(), O_RDONLY | O_CLOEXEC), "open " + name)};
        sys(::fsync(file.get()), "sync " + name);
    }
}

void end_container(const Homes& homes, std::string_view id) noexcept {
    for (const std::string& which : {kKernel, kHolder}) {
        const std::optional<engine::Process> process = homes.find(id, which);
        if (!process) continue;
        engine::kill_process(*process);
        pollfd ended{process->pidfd.get(), POLLIN, 0};
        ::poll(&ended, 1, static_cast<int>(kEndLimit.count()));
    }
    homes.remove(id);
}

}  // namespace oyat::gvisor
