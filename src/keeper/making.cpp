#include "keeper/making.hpp"

#include <chrono>
#include <ranges>
#include <utility>

#include "base/clock.hpp"
#include "base/id.hpp"
#include "base/log.hpp"
#include "base/throwing.hpp"
#include "engine/common/forked_work.hpp"

namespace oyat::keeper {
namespace {

// A random number that an agent of another life does not know.
std::uint64_t new_generation() {
    return std::stoull(random_hex(7), nullptr, 16) | 1;
}

}  // namespace

Plan plan_for(std::string template_digest, std::string engine, const wire::BoxLimits& limits,
              const std::string& boot_id) {
    Plan plan;
    plan.record = {.format = BoxRecord::kFormat,
                   .id = new_sandbox_id(),
                   .stage = Stage::intended,
                   .boot_id = boot_id,
                   .template_digest = std::move(template_digest),
                   .limits = limits,
                   .created_ms = unix_millis(std::chrono::system_clock::now()),
                   .engine = std::move(engine)};
    return plan;
}

Making::Making(const Rooms& rooms, Plan plan)
    : rooms_{rooms},
      plan_{std::move(plan)},
      engine_{rooms.engines.working(plan_.record.engine)},
      last_{std::chrono::steady_clock::now()} {
    try {
        making("box " + plan_.record.id, [&] {
            take_disk();
            if (!filling_) start();
        });
    } catch (const Error&) {
        give_back();
        throw;
    }
}

Making::~Making() {
    filling_.reset();
    starting_.reset();
    give_back();
}

int Making::fd() const noexcept {
    return filling_ ? filling_->fd() : starting_->fd();
}

std::optional<Result<Made>> Making::advance() {
    try {
        if (filling_) {
            const std::optional<Result<engine::Nothing>> filled = filling_->advance();
            if (!filled) return std::nullopt;
            if (!*filled) throw filled->error();
            filling_.reset();
            making("box " + plan_.record.id, [&] { start(); });
        }
        std::optional<Result<engine::Process>> started = starting_->advance();
        if (!started) return std::nullopt;
        if (!*started) throw std::move(started->error()).in("box " + plan_.record.id);
        return finish(*std::move(*started));
    } catch (const Error& error) {
        starting_.reset();
        give_back();
        return std::unexpected{error};
    }
}

// Microseconds since the last lap, by name.
void Making::lap(const char* name) {
    const MonoTime now = std::chrono::steady_clock::now();
    const auto spent = std::chrono::duration_cast<std::chrono::microseconds>(now - last_).count();
    phases_.push_back({.name = name, .micros = static_cast<std::uint64_t>(spent)});
    last_ = now;
}

void Making::take_disk() {
    BoxRecord& record = plan_.record;
    record.generation = new_generation();
    record.boot_id = rooms_.boot_id;
    layers_ = rooms_.templates.layers(record.template_digest);
    operators_ = rooms_.operator_layers.layer_for(record.template_digest, layers_.back().get());

    // Of a box that was there before, the record says already what is to be kept of it.
    const bool is_new = plan_.disk != Plan::Disk::its_own;
    if (is_new) {
        on_failure([this] { rooms_.records.remove(plan_.record.id); });
        rooms_.records.write(record);
    }
    range_ = rooms_.ids.take();
    on_failure([this] { rooms_.ids.give_back(range_); });
    if (is_new) on_failure([this] { rooms_.store.discard(plan_.record.id); });
    if (plan_.disk == Plan::Disk::fresh) {
        disk_ = rooms_.store.make_box(record.id, disk_limit(record.limits));
        return;
    }
    if (plan_.disk == Plan::Disk::of_snapshot) {
        rooms_.store.begin_box_of(plan_.snapshot, record.id, disk_limit(record.limits));
        if (!rooms_.store.begins_full()) {
            filling_ = engine::forked_doing(
                [&store = rooms_.store, from = plan_.snapshot, to = record.id] { store.fill(from, to); },
                [] {});
        }
    }
}

void Making::start() {
    BoxRecord& record = plan_.record;
    if (!disk_) disk_ = rooms_.store.reopen_box(record.id, disk_limit(record.limits));
    lap("image");

    network_ = engine_.network() == netns::Shape::loopback ? rooms_.namespaces.take()
                                                           : netns::Netns::make(engine_.network());
    listeners_ = network_->make_listeners();
    lap("network");

    group_ = rooms_.groups.create(record.id, group_limits(record.limits, engine_), range_.base);
    on_failure([this] {
        group_->kill();
        [[maybe_unused]] const bool gone = group_->destroy();
    });
    const Fd door = rooms_.doors.open(record.id);
    on_failure([this] { rooms_.doors.remove(plan_.record.id); });
    on_failure([this] { engine_.forget(plan_.record.id); });

    std::vector<int> lowers{operators_.get()};
    for (const Fd& layer : layers_) lowers.push_back(layer.get());
    starting_ = engine_.start({.id = record.id,
                               .generation = record.generation,
                               .template_digest = record.template_digest,
                               .limits = record.limits,
                               .range = range_,
                               .lowers = lowers,
                               .box = disk_.get(),
                               .network = &*network_,
                               .listener = door.get(),
                               .group = &*group_,
                               .open_files = rooms_.open_files,
                               .extra_hosts = rooms_.operator_layers.hosts(),
                               .memory = plan_.memory ? plan_.memory.get() : -1});
}

Made Making::finish(engine::Process process) {
    process_ = std::move(process);
    on_failure([this] {
        engine::kill_process(*process_);
        engine::wait_for_end(*process_);
    });
    BoxRecord& record = plan_.record;
    if (plan_.disk != Plan::Disk::its_own) record.stage = Stage::pooled;
    record.pid = static_cast<std::uint32_t>(process_->pid);
    record.start_ticks = process_->start_ticks;
    record.uid_base = range_.base;
    if (plan_.disk != Plan::Disk::its_own) rooms_.records.write(record);
    lap("started");
    undo_.clear();
    return {Box{.record = std::move(record),
                .process = *std::move(process_),
                .group = *std::move(group_),
                .range = range_,
                .netns = *std::move(network_),
                .listeners = std::move(listeners_)},
            std::move(phases_)};
}

void Making::give_back() noexcept {
    for (const std::function<void()>& undo : undo_ | std::views::reverse) {
        try {
            undo();
        } catch (const Error& error) {  // recovery finds it by its name
            log::error("a part of a box that failed was not given back", {{"why", error.message()}});
        }
    }
    undo_.clear();
}

}  // namespace oyat::keeper
