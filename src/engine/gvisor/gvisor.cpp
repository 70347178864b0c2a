#include "engine/gvisor/gvisor.hpp"

#include <fcntl.h>
#include <poll.h>
#include <time.h>
#include <unistd.h>

#include "base/throwing.hpp"
#include "engine/common/forked_work.hpp"
#include "engine/gvisor/bundle.hpp"
#include "engine/gvisor/container.hpp"

namespace oyat::gvisor {
namespace {

constexpr int kEndLimitMs = 10'000;

// The work's child becomes one of the group, and with it all that it starts.
void join(const cgroup::Group& group) {
    for (const Fd& tasks : group.join_fds()) {
        sys(::write(tasks.get(), "0", 1), "join the control group");
    }
    if (const Fd tree = group.tree_fd()) {
        const Fd procs{
            sys(::openat(tree.get(), "cgroup.procs", O_WRONLY | O_CLOEXEC), "open the control group")};
        sys(::write(procs.get(), "0", 1), "join the control group");
    }
}

std::string hosts_text(const engine::Parts& parts) {
    return "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n127.0.1.1 " +
           std::string{parts.id} + "\n" + std::string{parts.extra_hosts};
}

// An agent that has lost its host tries to find it again a hundred times a second. Twice that long, and it
// stands between two tries rather than in the middle of one.
void let_agent_notice() {
    const timespec moment{.tv_sec = 0, .tv_nsec = 20'000'000};
    ::nanosleep(&moment, nullptr);
}

void await_end(int pidfd) {
    pollfd ended{pidfd, POLLIN, 0};
    if (::poll(&ended, 1, kEndLimitMs) != 1) {
        throw Error{Errc::internal, Fault::engine, "the sandbox goes on after it was written to disk"};
    }
}

}  // namespace

Gvisor::Gvisor(Settings settings, const layers::Staging& staging)
    : path_{std::move(settings.runsc)},
      staging_{staging},
      agent_{sys(::open(settings.agent.c_str(), O_PATH | O_CLOEXEC), "open the agent")},
      trial_{path_, settings.dir + "-trial"},
      homes_{std::move(settings.dir)},
      doors_{homes_} {}

wire::EngineInfo Gvisor::info() const {
    const bool works = trial_.platform().has_value();
    wire::EngineInfo info{.name = "gvisor", .available = works, .boundary = "userspace-kernel"};
    info.reason = trial_.reason();
    info.version = trial_.version();
    if (works) {
        info.accelerator = *trial_.platform() == Platform::systrap ? "systrap" : "ptrace";
        info.capabilities = {"pause", "disk_snapshot", "disk_fork", "memory_snapshot", "memory_fork"};
    }
    return info;
}

Runsc Gvisor::runsc() const {
    const std::optional<Platform> platform = trial_.platform();
    if (!platform) {
        throw Error{Errc::failed_precondition, Fault::oyat_operator,
                    "gvisor is off here: " + trial_.reason()};
    }
    return Runsc{path_, *platform};
}

std::unique_ptr<engine::Work<engine::Process>> Gvisor::start(const engine::Parts& parts) {
    return in("start with gvisor", [&] {
        const std::string id{parts.id};
        const Runsc program = runsc();
        homes_.make(id, parts.range.base);
        doors_.open(id);
        // The descriptors live until the work's child has its copies.
        const Fd root = staging_.make_root(parts.lowers, parts.box, parts.range);
        const Fd state = homes_.state(id);
        const Fd door = homes_.door(id);
        const StartPlan plan{
            .id = id,
            .root = root.get(),
            .state = state.get(),
            .door = door.get(),
            .agent = agent_.get(),
            .memory = parts.memory,
            .outer_network = parts.network->fd(),
            .inner_network = parts.network->inner(),
            .knock = doors_.listener(id),
            .first_id = parts.range.base,
            .generation = parts.generation,
            .bundle = bundle_text(
                {.host_name = id,
                 .first_id = parts.range.base,
                 .open_files = parts.open_files,
                 .argv = {std::string{kAgentInside}, "--generation=" + std::to_string(parts.generation),
                          "--connect", std::string{kDoorInside} + "/agent"}}),
            .hosts = hosts_text(parts)};
        const cgroup::Group group = *parts.group;
        return engine::forked_start(
            [this, program, plan, group] {
                join(group);
                return start_container(program, homes_, plan);
            },
            [this, id, group] {
                group.kill();
                forget(id);
            });
    });
}

std::unique_ptr<engine::Work<engine::Nothing>> Gvisor::checkpoint(const engine::Running& sandbox, int into,
                                                                  Afterwards afterwards,
                                                                  std::function<void()> meanwhile) {
    if (afterwards == Afterwards::goes_on) {
        throw Error{Errc::unimplemented,
                    "gvisor ends a sandbox when its memory is written; start it anew from that"};
    }
    const std::string id{sandbox.id};
    const Runsc program = runsc();
    doors_.close(id);
    const Fd state = homes_.state(id);
    return engine::forked_doing(
        [program, id, into, state = state.get(), kernel = sandbox.process.pidfd.get(),
         meanwhile = std::move(meanwhile)] {
            let_agent_notice();
            checkpoint_container(program, id, state, into);
            await_end(kernel);
            meanwhile();
        },
        [] {});
}

pid_t Gvisor::in_network(const engine::Running& sandbox) const {
    const std::optional<engine::Process> holder = homes_.find(sandbox.id, kHolder);
    if (!holder) throw Error{Errc::unavailable, Fault::engine, "nobody holds the sandbox's network any more"};
    return holder->pid;
}

void Gvisor::forget(std::string_view id) noexcept {
    doors_.close(id);
    end_container(homes_, id);
}

}  // namespace oyat::gvisor
