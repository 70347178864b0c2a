#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/defer.hpp"
#include "base/log.hpp"
#include "base/throwing.hpp"
#include "engine/gvisor/gvisor.hpp"
#include "engine/jail/jail_engine.hpp"
#include "engine/microvm/microvm.hpp"
#include "keeper/brakes.hpp"
#include "keeper/census.hpp"
#include "keeper/lock.hpp"
#include "keeper/namespace_refill.hpp"
#include "keeper/operator_door.hpp"
#include "keeper/options.hpp"
#include "keeper/recovery.hpp"
#include "keeper/requests.hpp"
#include "keeper/socket_watch.hpp"
#include "keeper/state_dir.hpp"

namespace oyat::keeper {
namespace {

constexpr const char* kSharedIdClaims = "/run/oyat/uids";  // of all servers on the machine
constexpr const char* kSharedMicrovm = "/run/oyat/microvm";
constexpr std::size_t kReadyNamespaces = 8;
constexpr const char* kFirstTemplate = "base";

// Five descriptors a sandbox; and sandboxes inherit the hard limit. Returns what is allowed.
std::uint64_t raise_open_files() {
    constexpr rlim_t wanted = 1'048'576;
    rlimit files{wanted, wanted};
    if (::setrlimit(RLIMIT_NOFILE, &files) == 0) return wanted;
    sys(::getrlimit(RLIMIT_NOFILE, &files), "read the limit of open files");
    files.rlim_cur = files.rlim_max;
    sys(::setrlimit(RLIMIT_NOFILE, &files), "raise the limit of open files");
    return files.rlim_max;
}

// Under want of memory on the machine, sandboxes go before the keeper. The agent inherits the value and
// resets it for what it starts, so that in a sandbox commands go before the agent.
void go_last_for_memory() {
    std::ofstream{"/proc/self/oom_score_adj"} << "-900";
}

LimitPolicy read_limits(const std::string& file) {
    LimitPolicy policy = LimitPolicy::for_this_machine();
    if (file.empty()) return policy;
    return in("limits file " + file, [&] {
        std::ifstream stream{file};
        if (!stream) throw Error{Errc::not_found, Fault::oyat_operator, "can't be read"};
        or_throw(policy.read_lines(std::string{std::istreambuf_iterator<char>{stream}, {}}));
        return policy;
    });
}

std::string made_dir(const std::string& path, mode_t mode) {
    if (::mkdir(path.c_str(), mode) != 0 && errno != EEXIST) throw errno_error(errno, "make " + path);
    return path;
}

// A keeper of another state would take our agents' sockets for leftovers.
Fd hold_run_dir(const std::string& path) {
    std::filesystem::create_directories(path);
    Fd dir{sys(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC), "open " + path)};
    return hold_alone(std::move(dir), "another keeper uses this run directory");
}

WarmPool::Size pool_size(const Options& options) {
    constexpr std::size_t least = 4;
    constexpr std::size_t most = 128;
    struct sysinfo machine{};
    ::sysinfo(&machine);
    const std::size_t by_memory = std::size_t{machine.totalram} * machine.mem_unit >> 28;
    const std::size_t grown = options.pool ? *options.pool : std::clamp(by_memory, least, most);
    return {.least = options.pool.value_or(least), .most = options.pool_most.value_or(grown)};
}

Fd termination_signals() {
    sigset_t set;
    ::sigemptyset(&set);
    ::sigaddset(&set, SIGTERM);
    ::sigaddset(&set, SIGINT);
    sys(::sigprocmask(SIG_BLOCK, &set, nullptr), "block signals");
    ::signal(SIGPIPE, SIG_IGN);
    return Fd{sys(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), "make a signalfd")};
}

void say_ready(int fd) {
    if (fd < 0) return;
    [[maybe_unused]] const ssize_t n = ::write(fd, "ready\n", 6);
    ::close(fd);
}

int serve(const Options& options) {
    const Fd signals = termination_signals();
    go_last_for_memory();
    LimitPolicy limits = read_limits(options.limits_file);
    limits.open_files = std::min(limits.open_files, raise_open_files());
    const StateDir state{options.state};
    // After the wait for a former keeper of this state, which removes the directory as its last deed.
    const Fd run_lock = hold_run_dir(options.run);

    // Our mounts end with us in any case; the mount point must not stay.
    const std::string stage = options.run + "/stage";
    const Defer remove_stage{[&] {
        ::umount2(stage.c_str(), MNT_DETACH);
        ::rmdir(stage.c_str());
        ::rmdir(options.run.c_str());
    }};
    layers::Staging staging{made_dir(stage, 0700)};
    std::vector<std::string> probes;
    const std::unique_ptr<layers::Store> store =
        layers::open_store({.state_dir = state.path(), .state_id = state.id()}, staging, probes);
    layers::Sweeper sweeper{*store};
    layers::Templates templates{options.templates};
    layers::IdRanges ids{kSharedIdClaims, state.id()};
    const cgroup::Hierarchies hierarchies = cgroup::Hierarchies::probe();
    cgroup::Parent groups{hierarchies, state.id(), options.cgroup};
    // Each takes away what is empty, also when the rest of the start fails.
    const Defer remove_groups{[&] { groups.remove(); }};
    groups.throttle_device(store->facts().device);
    netns::NetnsPool namespaces{netns::Shape::loopback, kReadyNamespaces};
    const Records records{state.path("records")};
    const engine::AgentDoors doors{options.run + "/agents"};
    const Defer remove_doors{[&] { doors.remove_all_if_empty(); }};
    const AuditFiles audit{options.state + "/audit", options.socket_group};
    jail::Launcher launcher{staging.mount_point("jail"), options.agent, hierarchies, "oyat-" + state.id()};
    jail::JailEngine jails{launcher, staging, doors, kernel_release()};
    microvm::Microvm machines{{.places = {.state = state.path("microvm"),
                                          .shared = kSharedMicrovm,
                                          .run = options.run + "/microvm",
                                          .kernel = options.kernel,
                                          .agent = options.agent}}};
    gvisor::Gvisor gvisors{{.runsc = options.runsc, .agent = options.agent, .dir = options.run + "/gvisor"},
                           staging};
    const Engines engines{{&jails, &gvisors, &machines}};
    const Memories memories{state.path("memory")};
    OperatorLayers operator_layers{state.path("operator")};
    const Rooms rooms{.records = records,
                      .ids = ids,
                      .store = *store,
                      .templates = templates,
                      .groups = groups,
                      .namespaces = namespaces,
                      .doors = doors,
                      .engines = engines,
                      .memories = memories,
                      .operator_layers = operator_layers,
                      .open_files = limits.open_files,
                      .boot_id = boot_id()};
    BoxFactory factory{rooms};
    Snapshots snapshots{state.path("snapshots"), rooms};

    Loop loop;
    ControlSocket socket{loop};
    Boxes boxes{loop,
                factory,
                snapshots,
                groups,
                sweeper,
                {.limits = limits, .pool = pool_size(options), .disk_limit_by = store->facts().disk_limit_by},
                [&](const wire::KeeperEvent& event) { socket.event(event); }};
    Brakes brakes{state.path("brakes"), state.id(), boxes};
    TemplateWork work{loop};
    TemplateWork searches{loop};
    Census census{groups, namespaces, state.id()};
    Requests requests{{.boxes = boxes,
                       .engines = engines,
                       .snapshots = snapshots,
                       .brakes = brakes,
                       .templates = templates,
                       .store = *store,
                       .groups = groups,
                       .census = census,
                       .audit = audit,
                       .work = work,
                       .searches = searches,
                       .limits = limits,
                       .socket = socket,
                       .probes = probes,
                       .state_id = state.id(),
                       .kernel = kernel_release()}};

    snapshots.recover();
    const Recovery::Outcome recovered = Recovery{rooms, factory}.run(boxes);
    brakes.hold_again();
    if (boxes.all().empty()) operator_layers.remove_outdated();
    sweeper.kick();
    const NamespaceRefill refill{loop, namespaces};
    const SocketWatch sockets{loop, boxes};
    if (const auto base = templates.find(kFirstTemplate)) boxes.warm_up(base->digest);
    loop.watch(signals.get(), [&](std::uint32_t) {
        loop.forget(signals.get());
        boxes.close(options.ephemeral ? Boxes::Extent::everything : Boxes::Extent::pool_only,
                    [&] { loop.stop(); });
    });
    const OperatorDoor door{loop, state.path(),
                            [&](const wire::KeeperRequest& request, const OperatorDoor::Reply& reply) {
                                requests.handle(request, reply);
                            }};
    socket.serve(
        {.path = options.run + "/keeper.sock", .group = options.socket_group, .oyatd = options.oyatd_user},
        [&](ClientId client, const wire::KeeperRequest& request, std::vector<Fd> fds) {
            requests.handle(client, request, std::move(fds));
        });
    log::info("ready", {{"state", state.id()},
                        {"adopted", recovered.adopted},
                        {"destroyed", recovered.destroyed},
                        {"disk_limit", store->facts().disk_limit_by},
                        {"cgroups", std::string{cgroup::to_string(groups.mode())}}});
    say_ready(options.ready_fd);
    loop.run();

    if (boxes.all().empty()) {
        sweeper.finish();
        ids.release_unused();
    }
    log::info("stopped", {{"living", boxes.all().size()}});
    return 0;
}

int import_template(const Options& options) {
    layers::Templates templates{options.templates};
    const std::unique_ptr<layers::Job> job =
        templates.import(options.template_name, "", Fd{::dup(STDIN_FILENO)});
    for (;;) {
        pollfd wait{job->fd(), POLLIN, 0};
        if (::poll(&wait, 1, -1) < 0 && errno != EINTR) throw errno_error(errno, "wait for the import");
        if (const std::optional<Result<layers::TemplateMeta>> outcome = job->advance()) {
            if (!*outcome) throw outcome->error();
            std::printf("%s\n", (*outcome)->digest.c_str());
            return 0;
        }
        if (::isatty(STDERR_FILENO) != 0) {
            const layers::Job::Progress progress = job->progress();
            std::fprintf(stderr, "\r%llu files, %llu MiB", static_cast<unsigned long long>(progress.files),
                         static_cast<unsigned long long>(progress.bytes >> 20));
        }
    }
}

int run(const std::vector<std::string_view>& arguments) {
    const Options options = or_throw(parse_options(arguments));
    if (options.help) {
        std::fputs(std::string{usage()}.c_str(), stdout);
        return 0;
    }
    return options.command == Options::Command::serve ? serve(options) : import_template(options);
}

}  // namespace
}  // namespace oyat::keeper

int main(int argc, char** argv) {
    try {
        return oyat::keeper::run({argv + 1, argv + argc});
    } catch (const oyat::Error& error) {
        oyat::log::error(error.message());
        return 1;
    }
}
