#include "keeperlink/keeper_translate.hpp"

#include <utility>

namespace oyat::keeperlink {
namespace {

core::Limits to_core(const wire::BoxLimits& limits) {
    return {.memory_bytes = limits.memory_bytes,
            .cpu_millis = limits.cpu_millis,
            .processes = limits.processes,
            .disk_bytes = limits.disk_bytes,
            .disk_inodes = limits.disk_inodes,
            .io_bytes_per_second = limits.io_bytes_per_second};
}

core::EngineFacts to_core(wire::EngineInfo engine) {
    return {.name = std::move(engine.name),
            .available = engine.available,
            .boundary = std::move(engine.boundary),
            .reason = std::move(engine.reason),
            .capabilities = std::move(engine.capabilities),
            .version = std::move(engine.version),
            .kernel = std::move(engine.kernel),
            .accelerator = std::move(engine.accelerator),
            .emulated = engine.emulated};
}

core::LimitFacts to_core(wire::LimitInfo limit) {
    return {.name = std::move(limit.name),
            .mechanism = std::move(limit.mechanism),
            .hard = limit.hard,
            .default_value = limit.default_value,
            .maximum = limit.maximum};
}

core::HeldFacts to_core(const wire::HeldCounts& held) {
    return {.sandboxes = held.sandboxes,
            .mounts = held.mounts,
            .cgroups = held.cgroups,
            .netns = held.netns,
            .processes = held.processes};
}

core::KeeperNotice::Kind to_core(wire::EventKind kind) {
    using Kind = core::KeeperNotice::Kind;
    switch (kind) {
        case wire::EventKind::oom: return Kind::oom;
        case wire::EventKind::template_progress: return Kind::template_progress;
        case wire::EventKind::disk_full: return Kind::disk_full;
        case wire::EventKind::brakes: return Kind::brakes;
        default: return Kind::died;
    }
}

}  // namespace

wire::CreateBox to_wire(core::BoxOrder order) {
    return {.template_digest = std::move(order.template_digest),
            .engine = std::move(order.engine),
            .limits = {.memory_bytes = order.limits.memory_bytes,
                       .cpu_millis = order.limits.cpu_millis,
                       .processes = order.limits.processes,
                       .disk_bytes = order.limits.disk_bytes,
                       .disk_inodes = order.limits.disk_inodes,
                       .io_bytes_per_second = order.limits.io_bytes_per_second},
            .owner_tag = std::move(order.owner_tag),
            .from_pool_only = order.pool == core::BoxOrder::Pool::require,
            .never_pool = order.pool == core::BoxOrder::Pool::never,
            .from_snapshot = std::move(order.from_snapshot)};
}

core::BoxFacts to_core(wire::Box box) {
    return {.id = std::move(box.id),
            .generation = box.generation,
            .engine = std::move(box.engine),
            .boundary = std::move(box.boundary),
            .template_digest = std::move(box.template_digest),
            .limits = to_core(box.limits),
            .frozen = box.frozen,
            .warm = box.warm,
            .created = from_unix_millis(box.created_ms),
            .owner_tag = std::move(box.owner_tag),
            .disk_limit_by = std::move(box.disk_limit_by),
            .kernel = std::move(box.kernel),
            .held = box.held,
            .egress_off = box.egress_off,
            .stored = box.stored,
            .has_memory = box.has_memory};
}

wire::PullBrake to_wire(core::BrakeOrder order) {
    using enum core::BrakeOrder::Brake;
    const wire::Brake brake = order.brake == hold         ? wire::Brake::hold
                              : order.brake == release    ? wire::Brake::release
                              : order.brake == cut_egress ? wire::Brake::cut_egress
                                                          : wire::Brake::open_egress;
    return {.brake = brake, .all = order.all, .ids = std::move(order.ids)};
}

core::BrakeFacts to_core(wire::BrakeFacts facts) {
    return {.stopped = facts.stopped,
            .egress_off = facts.egress_off,
            .held = facts.held,
            .moving = std::move(facts.moving),
            .killed = std::move(facts.killed)};
}

std::vector<core::Phase> to_core(std::vector<wire::Phase> phases) {
    std::vector<core::Phase> out;
    for (wire::Phase& each : phases) out.push_back({.name = std::move(each.name), .micros = each.micros});
    return out;
}

core::BoxUsage to_core(const wire::BoxStats& stats) {
    return {.id = stats.id,
            .memory_now = stats.memory_now,
            .memory_peak = stats.memory_peak,
            .memory_cache = stats.memory_cache,
            .memory_limit = stats.memory_limit,
            .cpu_us = stats.cpu_us,
            .throttled_us = stats.throttled_us,
            .processes = stats.processes,
            .processes_denied = stats.processes_denied,
            .oom_kills = stats.oom_kills,
            .disk_used = stats.disk_used,
            .disk_limit = stats.disk_limit,
            .inodes_used = stats.inodes_used,
            .inodes_limit = stats.inodes_limit};
}

core::TemplateFacts to_core(wire::TemplateInfo info) {
    return {.digest = std::move(info.digest),
            .name = std::move(info.name),
            .bytes = info.bytes,
            .files = info.files,
            .created = from_unix_millis(info.created_ms)};
}

core::SnapshotFacts to_core(wire::SnapshotInfo info) {
    return {.id = std::move(info.id),
            .box = std::move(info.box),
            .template_digest = std::move(info.template_digest),
            .engine = std::move(info.engine),
            .memory = info.memory,
            .limits = to_core(info.limits),
            .disk_bytes = info.disk_bytes,
            .memory_bytes = info.memory_bytes,
            .created = from_unix_millis(info.created_ms),
            .stood_still = std::chrono::microseconds{info.stood_still_us}};
}

core::KeeperFacts to_core(wire::KeeperInfo info) {
    core::KeeperFacts out{.state_id = std::move(info.state_id),
                          .kernel = std::move(info.kernel),
                          .cgroup_mode = std::move(info.cgroup_mode),
                          .engines = {},
                          .limits = {},
                          .probes = std::move(info.probes),
                          .held = to_core(info.held),
                          .pooled = to_core(info.pooled)};
    for (wire::EngineInfo& each : info.engines) out.engines.push_back(to_core(std::move(each)));
    for (wire::LimitInfo& each : info.limits) out.limits.push_back(to_core(std::move(each)));
    return out;
}

core::KeeperNotice to_core(wire::KeeperEvent event) {
    core::KeeperNotice notice{.kind = to_core(event.kind),
                              .id = std::move(event.id),
                              .process = std::move(event.process),
                              .pid = event.pid,
                              .count = event.count,
                              .text = std::move(event.text),
                              .last = std::nullopt};
    if (event.last) notice.last = to_core(*event.last);
    return notice;
}

Error to_error(const wire::KeeperReply& reply) {
    const bool known = reply.code <= static_cast<std::uint32_t>(Errc::internal) + 1;
    const Errc code = known ? static_cast<Errc>(reply.code - 1) : Errc::internal;
    if (reply.fault != 0 && reply.fault <= static_cast<std::uint32_t>(Fault::oyat_operator) + 1) {
        return Error{code, static_cast<Fault>(reply.fault - 1), reply.message};
    }
    // A keeper that cannot is the engine's fault, not an agent's.
    return Error{code, code == Errc::unavailable ? Fault::engine : default_fault(code), reply.message};
}

}  // namespace oyat::keeperlink
