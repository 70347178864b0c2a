#include "engine/jail/jail_engine.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/clock.hpp"
#include "base/throwing.hpp"

namespace oyat::jail {

JailEngine::JailEngine(const Launcher& launcher, const layers::Staging& staging,
                       const engine::AgentDoors& doors, std::string kernel)
    : launcher_{launcher},
      staging_{staging},
      doors_{doors},
      kernel_{std::move(kernel)},
      processors_{Processors::of_this_machine()},
      cpus_{CpuShares::of_this_process()} {}

wire::EngineInfo JailEngine::info() const {
    return {.name = "jail",
            .available = true,
            .boundary = "shared-kernel",
            .capabilities = {"pause", "disk_snapshot", "disk_fork"},
            .version = "1",
            .kernel = kernel_};
}

std::unique_ptr<engine::Work<engine::Process>> JailEngine::start(const engine::Parts& parts) {
    if (parts.memory >= 0) throw Error{Errc::unimplemented, Fault::engine, "a jail has no memory image"};
    const Fd root = staging_.make_root(parts.lowers, parts.box, parts.range);
    return std::make_unique<engine::Done<engine::Process>>(
        launcher_.start({.id = parts.id,
                         .generation = parts.generation,
                         .range = parts.range,
                         .root = root.get(),
                         .netns = parts.network->fd(),
                         .listener = parts.listener,
                         .group = parts.group,
                         .open_files = parts.open_files,
                         .extra_hosts = parts.extra_hosts}));
}

Fd JailEngine::connect_agent(const engine::Running& sandbox) {
    return doors_.connect(sandbox.id);
}

std::unique_ptr<engine::Work<engine::Nothing>> JailEngine::checkpoint(const engine::Running&, int, Afterwards,
                                                                      std::function<void()>) {
    throw Error{Errc::unimplemented, Fault::engine,
                "a jail's processes can't be written to disk; gvisor and microvm can do that"};
}

void JailEngine::settle(const engine::Running& sandbox, const wire::BoxLimits& limits) {
    pin(sandbox.process.pid, cpus_.next(limits.cpu_millis));
}

// A sandbox keeps its processors as long as it sees as many of them.
void JailEngine::set_limits(const engine::Running& sandbox, const wire::BoxLimits& before,
                            const wire::BoxLimits& limits) {
    if (cpus_.seen(limits.cpu_millis) != cpus_.seen(before.cpu_millis)) settle(sandbox, limits);
}

void JailEngine::tell(const engine::Running& sandbox, const engine::Seen& seen, Told what) {
    const std::int64_t age = unix_millis(std::chrono::system_clock::now()) - seen.created_ms;
    const Facts facts{.memory_bytes = seen.limits.memory_bytes,
                      .memory_now = seen.stats.memory_now,
                      .memory_cache = seen.stats.memory_cache,
                      .cpu_us = seen.stats.cpu_us,
                      .cpus = cpus_.seen(seen.limits.cpu_millis),
                      .age_ms = static_cast<std::uint64_t>(std::max<std::int64_t>(0, age)),
                      .started_s = seen.created_ms / 1000,
                      .processes = seen.stats.processes};
    write_facts(sandbox.process.pid, facts, processors_, what == Told::all ? Which::all : Which::moving);
}

}  // namespace oyat::jail
