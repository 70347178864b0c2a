#include "keeper/box_factory.hpp"

#include <sys/socket.h>

#include <chrono>

#include "base/clock.hpp"
#include "base/defer.hpp"
#include "base/id.hpp"
#include "base/log.hpp"
#include "base/throwing.hpp"

namespace oyat::keeper {
namespace {

std::int64_t now_ms() {
    return unix_millis(std::chrono::system_clock::now());
}

// Microseconds between calls, by name.
class Stopwatch {
public:
    void lap(const char* name) {
        const MonoTime now = std::chrono::steady_clock::now();
        const auto spent = std::chrono::duration_cast<std::chrono::microseconds>(now - last_).count();
        phases_.push_back({.name = name, .micros = static_cast<std::uint64_t>(spent)});
        last_ = now;
    }
    [[nodiscard]] std::vector<wire::Phase> take() { return std::move(phases_); }

private:
    MonoTime last_ = std::chrono::steady_clock::now();
    std::vector<wire::Phase> phases_;
};

// A random number that an agent of another life does not know.
std::uint64_t new_generation() {
    return std::stoull(random_hex(7), nullptr, 16) | 1;
}

// A system call that was refused to us is nobody's policy and no client's mistake.
template <class Body>
auto making(const std::string& what, Body&& body) {
    try {
        return in(what, std::forward<Body>(body));
    } catch (Error& error) {
        if (error.fault() == Fault::limit) throw;
        throw std::move(error).because(Fault::engine);
    }
}

jail::Facts facts_of(const BoxRecord& record, const wire::BoxStats& stats, std::uint32_t cpus) {
    return {.memory_bytes = record.limits.memory_bytes,
            .memory_now = stats.memory_now,
            .memory_cache = stats.memory_cache,
            .cpu_us = stats.cpu_us,
            .cpus = cpus,
            .age_ms = static_cast<std::uint64_t>(std::max<std::int64_t>(0, now_ms() - record.created_ms)),
            .started_s = record.created_ms / 1000,
            .processes = stats.processes};
}

cgroup::Limits group_limits(const wire::BoxLimits& limits) {
    return {.memory_bytes = limits.memory_bytes,
            .cpu_millis = limits.cpu_millis,
            .processes = limits.processes,
            .io_bytes_per_second = limits.io_bytes_per_second};
}

layers::DiskLimit disk_limit(const wire::BoxLimits& limits) {
    return {.bytes = limits.disk_bytes, .inodes = limits.disk_inodes};
}

}  // namespace

void revoke(netns::Listeners& listeners) noexcept {
    for (const Fd* socket : {&listeners.proxy, &listeners.dns_udp, &listeners.dns_tcp}) {
        ::shutdown(socket->get(), SHUT_RDWR);
    }
}

BoxFactory::BoxFactory(const Rooms& rooms)
    : rooms_{rooms},
      processors_{jail::Processors::of_this_machine()},
      cpus_{jail::CpuShares::of_this_process()} {}

void BoxFactory::require_room() const {
    constexpr std::uint64_t reserve = 20;  // one part in so many
    const layers::StoreRoom room = rooms_.store.room();
    if (room.free < room.total / reserve || room.host_free < room.host_total / reserve) {
        throw Error{Errc::exhausted, "less than 5 % of the server's disk is free"};
    }
}

BoxFactory::Made BoxFactory::make(const std::string& template_digest, const wire::BoxLimits& limits) {
    Stopwatch watch;
    BoxRecord record{.format = BoxRecord::kFormat,
                     .id = new_sandbox_id(),
                     .stage = Stage::intended,
                     .generation = new_generation(),
                     .boot_id = rooms_.boot_id,
                     .template_digest = template_digest,
                     .limits = limits,
                     .created_ms = now_ms()};
    const std::vector<Fd> layers = rooms_.templates.layers(template_digest);
    return making("box " + record.id, [&] {
        const Fd operators = rooms_.operator_layers.layer_for(template_digest, layers.back().get());
        std::vector<int> lowers{operators.get()};
        for (const Fd& layer : layers) lowers.push_back(layer.get());

        Defer forget_record{[&] { rooms_.records.remove(record.id); }};
        rooms_.records.write(record);
        const layers::IdRange range = rooms_.ids.take();
        Defer return_range{[&] { rooms_.ids.give_back(range); }};
        const Fd disk = rooms_.store.make_box(record.id, disk_limit(limits));
        Defer discard_disk{[&] { rooms_.store.discard(record.id); }};
        const Fd root = rooms_.staging.make_root(lowers, disk.get(), range);
        watch.lap("image");

        netns::Netns network = rooms_.namespaces.take();
        netns::Listeners listeners = network.make_listeners();
        watch.lap("network");

        cgroup::Group group = rooms_.groups.create(record.id, group_limits(limits), range.base);
        Defer destroy_group{[&] { [[maybe_unused]] const bool gone = group.destroy(); }};
        const Fd door = rooms_.doors.open(record.id);
        Defer remove_door{[&] { rooms_.doors.remove(record.id); }};
        engine::Process process = rooms_.launcher.start({.id = record.id,
                                                       .generation = record.generation,
                                                       .range = range,
                                                       .root = root.get(),
                                                       .netns = network.fd(),
                                                       .listener = door.get(),
                                                       .group = &group,
                                                       .open_files = rooms_.open_files,
                                                       .extra_hosts = rooms_.operator_layers.hosts()});
        Defer end_process{[&] {
            engine::kill_process(process);
            engine::wait_for_end(process);
            rooms_.launcher.forget(record.id);
        }};
        record.stage = Stage::pooled;
        record.pid = static_cast<std::uint32_t>(process.pid);
        record.start_ticks = process.start_ticks;
        record.uid_base = range.base;
        rooms_.records.write(record);
        watch.lap("started");

        end_process.dismiss();
        remove_door.dismiss();
        destroy_group.dismiss();
        discard_disk.dismiss();
        return_range.dismiss();
        forget_record.dismiss();
        return Made{Box{.record = std::move(record),
                        .process = std::move(process),
                        .group = std::move(group),
                        .range = range,
                        .netns = std::move(network),
                        .listeners = std::move(listeners)},
                    watch.take()};
    });
}

void BoxFactory::hand_out(Box& box, const wire::BoxLimits& limits, const std::string& owner_tag) {
    making("box " + box.record.id, [&] {
        enforce(box, limits);
        jail::pin(box.process.pid, cpus_.next(limits.cpu_millis));
        BoxRecord record = box.record;
        record.limits = limits;
        record.owner_tag = owner_tag;
        record.stage = Stage::handed_out;
        record.created_ms = now_ms();
        rooms_.records.write(record);
        const bool shown =
            box.facts_shown && cpus_.seen(limits.cpu_millis) == cpus_.seen(box.record.limits.cpu_millis);
        box.record = std::move(record);
        apply_facts(box, {}, shown ? jail::Which::moving : jail::Which::all);
    });
}

void BoxFactory::show_facts(Box& box) const {
    apply_facts(box, {}, jail::Which::all);
    box.facts_shown = true;
}

// What is not changed costs nothing: most boxes come out of the pool with the limits that are asked for.
void BoxFactory::enforce(const Box& box, const wire::BoxLimits& limits) const {
    const wire::BoxLimits& now = box.record.limits;
    if (limits.memory_bytes != now.memory_bytes || limits.cpu_millis != now.cpu_millis ||
        limits.processes != now.processes || limits.io_bytes_per_second != now.io_bytes_per_second) {
        box.group.update(group_limits(limits));
    }
    if (limits.disk_bytes != now.disk_bytes || limits.disk_inodes != now.disk_inodes) {
        rooms_.store.set_limit(box.record.id, disk_limit(limits));
    }
}

void BoxFactory::set_limits(Box& box, const wire::BoxLimits& limits) {
    in("box " + box.record.id, [&] {
        enforce(box, limits);
        if (cpus_.seen(limits.cpu_millis) != cpus_.seen(box.record.limits.cpu_millis)) {
            jail::pin(box.process.pid, cpus_.next(limits.cpu_millis));
        }
        BoxRecord record = box.record;
        record.limits = limits;
        rooms_.records.write(record);
        box.record = std::move(record);
        apply_facts(box, stats(box), jail::Which::all);
    });
}

std::optional<Box> BoxFactory::adopt(const BoxRecord& record) {
    if (record.stage != Stage::handed_out || record.boot_id != rooms_.boot_id) return std::nullopt;
    std::optional<engine::Process> process =
        engine::find_process(static_cast<pid_t>(record.pid), record.start_ticks);
    std::optional<cgroup::Group> group = rooms_.groups.find(record.id);
    if (!process || !group || engine::has_ended(*process)) return std::nullopt;
    const Fd disk = rooms_.store.open_box(record.id, disk_limit(record.limits));
    netns::Netns network =
        netns::Netns::of_process(static_cast<pid_t>(record.pid), netns::Shape::loopback);
    const std::uint64_t oom_kills = group->stats().oom_kills;
    // Last, since nothing gives it back.
    const layers::IdRange range = rooms_.ids.adopt(record.uid_base);
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
    apply_facts(box, stats, jail::Which::moving);
}

void BoxFactory::apply_facts(const Box& box, const wire::BoxStats& stats, jail::Which which) const {
    const std::uint32_t cpus = cpus_.seen(box.record.limits.cpu_millis);
    jail::write_facts(box.process.pid, facts_of(box.record, stats, cpus), processors_, which);
}

bool BoxFactory::dismantle(std::string_view id) {
    if (const std::optional<cgroup::Group> group = rooms_.groups.find(id); group && !group->destroy())
        return false;
    rooms_.doors.remove(id);
    rooms_.launcher.forget(id);
    rooms_.store.discard(id);
    rooms_.records.remove(id);
    return true;
}

}  // namespace oyat::keeper
