#include "keeper/box_factory.hpp"

#include <sys/socket.h>

#include <chrono>

#include "base/clock.hpp"
#include "base/throwing.hpp"

namespace oyat::keeper {
namespace {

using Told = engine::Engine::Told;

std::int64_t now_ms() {
    return unix_millis(std::chrono::system_clock::now());
}

engine::Running running(const Box& box) {
    return {.id = box.record.id, .process = box.process, .group = box.group};
}

}  // namespace

void revoke(netns::Listeners& listeners) noexcept {
    for (const Fd* socket : {&listeners.proxy, &listeners.dns_udp, &listeners.dns_tcp}) {
        ::shutdown(socket->get(), SHUT_RDWR);
    }
}

void BoxFactory::require_room() const {
    constexpr std::uint64_t reserve = 20;  // one part in so many
    const layers::StoreRoom room = rooms_.store.room();
    if (room.free < room.total / reserve || room.host_free < room.host_total / reserve) {
        throw Error{Errc::exhausted, "less than 5 % of the server's disk is free"};
    }
}

std::unique_ptr<Making> BoxFactory::begin(Plan plan) const {
    return std::make_unique<Making>(rooms_, std::move(plan));
}

void BoxFactory::hand_out(Box& box, const wire::BoxLimits& limits, const std::string& owner_tag) {
    making("box " + box.record.id, [&] {
        enforce(box, limits);
        engine_of(box.record).settle(running(box), limits);
        BoxRecord record = box.record;
        record.limits = limits;
        record.owner_tag = owner_tag;
        record.stage = Stage::handed_out;
        record.created_ms = now_ms();
        rooms_.records.write(record);
        const bool told = box.facts_shown && limits.cpu_millis == box.record.limits.cpu_millis;
        box.record = std::move(record);
        tell(box, {}, told ? Told::moving : Told::all);
    });
}

void BoxFactory::show_facts(Box& box) const {
    tell(box, {}, Told::all);
    box.facts_shown = true;
}

// What is not changed costs nothing: most boxes come out of the pool with the limits that are asked for.
void BoxFactory::enforce(const Box& box, const wire::BoxLimits& limits) const {
    const wire::BoxLimits& now = box.record.limits;
    if (limits.memory_bytes != now.memory_bytes || limits.cpu_millis != now.cpu_millis ||
        limits.processes != now.processes || limits.io_bytes_per_second != now.io_bytes_per_second) {
        box.group.update(group_limits(limits, engine_of(box.record)));
    }
    if (limits.disk_bytes != now.disk_bytes || limits.disk_inodes != now.disk_inodes) {
        rooms_.store.set_limit(box.record.id, disk_limit(limits));
    }
}

void BoxFactory::set_limits(Box& box, const wire::BoxLimits& limits) {
    in("box " + box.record.id, [&] {
        enforce(box, limits);
        engine_of(box.record).set_limits(running(box), box.record.limits, limits);
        BoxRecord record = box.record;
        record.limits = limits;
        rooms_.records.write(record);
        box.record = std::move(record);
        tell(box, stats(box), Told::all);
    });
}

std::optional<Box> BoxFactory::adopt(const BoxRecord& record) {
    // What was being stored may be dying of it; it has its disk, and its memory if that was whole.
    if (record.stage != Stage::handed_out || record.boot_id != rooms_.boot_id) return std::nullopt;
    std::optional<engine::Process> process =
        engine::find_process(static_cast<pid_t>(record.pid), record.start_ticks);
    std::optional<cgroup::Group> group = rooms_.groups.find(record.id);
    if (!process || !group || engine::has_ended(*process)) return std::nullopt;
    const Fd disk = rooms_.store.open_box(record.id, disk_limit(record.limits));
    engine::Engine& engine = engine_of(record);
    netns::Netns network = netns::Netns::of_process(
        engine.in_network({.id = record.id, .process = *process, .group = *group}), engine.network());
    const std::uint64_t oom_kills = group->stats().oom_kills;
    // Last, since nothing gives it back.
    const layers::IdRange range = rooms_.ids.adopt(record.uid_base);
    engine.adopted({.id = record.id, .process = *process, .group = *group});
    return Box{.record = record,
               .process = *std::move(process),
               .group = *std::move(group),
               .range = range,
               .netns = std::move(network),
               .listeners = std::nullopt,
               .oom_kills = oom_kills};
}

void BoxFactory::release(const Box& box) noexcept {
    rooms_.ids.give_back(box.range);
}

wire::BoxStats BoxFactory::stats(const Box& box) const {
    const cgroup::Stats used = box.group.stats();
    const layers::DiskUse disk = rooms_.store.use(box.record.id);
    return {.id = box.record.id,
            .memory_now = used.memory_now,
            .memory_peak = used.memory_peak,
            .memory_cache = used.memory_cache,
            .memory_limit = box.record.limits.memory_bytes,
            .cpu_us = used.cpu_us,
            .throttled_us = used.throttled_us,
            .processes = used.pids_now,
            .processes_denied = used.pids_denied,
            .oom_kills = static_cast<std::uint32_t>(used.oom_kills),
            .disk_used = disk.bytes,
            .disk_limit = box.record.limits.disk_bytes,
            .inodes_used = disk.inodes,
            .inodes_limit = box.record.limits.disk_inodes};
}

void BoxFactory::refresh_facts(const Box& box, const wire::BoxStats& stats) const {
    tell(box, stats, Told::moving);
}

void BoxFactory::tell(const Box& box, const wire::BoxStats& stats, Told what) const {
    engine_of(box.record)
        .tell(running(box),
              {.limits = box.record.limits, .stats = stats, .created_ms = box.record.created_ms}, what);
}

Fd BoxFactory::connect_agent(const Box& box) const {
    return engine_of(box.record).connect_agent(running(box));
}

bool BoxFactory::take_down(std::string_view id) {
    if (const std::optional<cgroup::Group> group = rooms_.groups.find(id); group && !group->destroy())
        return false;
    rooms_.doors.remove(id);
    for (engine::Engine* engine : rooms_.engines.all()) engine->forget(id);
    return true;
}

bool BoxFactory::dismantle(std::string_view id) {
    if (!take_down(id)) return false;
    rooms_.store.discard(id);
    rooms_.memories.remove(id);
    rooms_.records.remove(id);
    return true;
}

}  // namespace oyat::keeper
