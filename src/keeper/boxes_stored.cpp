#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "base/log.hpp"
#include "base/throwing.hpp"
#include "engine/common/forked_work.hpp"
#include "keeper/boxes.hpp"

// Boxes on disk alone: how they get there, wake up again, and are put back to what they came from.
namespace oyat::keeper {
namespace {

constexpr Millis kFirstRetry{1};  // of what the kernel is not ready for
constexpr Millis kLongestRetry{200};
constexpr const char* kItsTemplate = "template";  // in BoxRecord::reset_to

}  // namespace

void Boxes::adopt_stored(BoxRecord record) {
    const std::string id = record.id;
    record.stage = Stage::stored;
    record.frozen = false;
    factory_.keep_durably(record);
    const bool half_reset = !record.reset_to.empty();
    if (!half_reset) static_cast<void>(factory_.rooms().store.open_box(id, disk_limit(record.limits)));
    stored_.emplace(id, Stored{.record = std::move(record)});
    if (half_reset) {
        begin_reset(id, [id](const Result<void>& done) {
            if (!done)
                log::error("a sandbox could not be put back", {{"id", id}, {"why", done.error().message()}});
        });
    }
}

Boxes::Stored& Boxes::idle_stored(const std::string& id) {
    const auto found = stored_.find(id);
    if (found == stored_.end()) {
        if (living_box(id) != nullptr || parking_.contains(id))
            throw Error{Errc::failed_precondition, "the sandbox is not stored"};
        throw Error{Errc::not_found, "no such sandbox"};
    }
    if (found->second.busy) throw Error{Errc::failed_precondition, "it is being copied or started"};
    return found->second;
}

// --- to disk
// -------------------------------------------------------------------------------------------------

void Boxes::store(const std::string& id, bool memory, StatsHandler done) {
    Box& box = free_to_change(id);
    if (!memory) return park(box, {.done = std::move(done)});

    factory_.require_room();
    // Whatever kills us from here on, the disk stays.
    BoxRecord record = box.record;
    record.stage = Stage::storing;
    const Fd into = factory_.rooms().memories.begin(id);
    std::unique_ptr<engine::Work<engine::Nothing>> work = factory_.engine_of(record).checkpoint(
        {.id = box.record.id, .process = box.process, .group = box.group}, into.get(),
        engine::Engine::Afterwards::ends, [] {});
    factory_.keep_durably(record);
    box.record.stage = Stage::storing;
    parking_.emplace(id, Parking{.done = std::move(done), .writing = true});
    chores_.start<engine::Nothing>(
        std::move(work), [this, id](const Result<engine::Nothing>& written) { memory_written(id, written); });
}

// The sandbox may have ended by then, or it lives on when its memory could not be written.
void Boxes::memory_written(const std::string& id, Result<engine::Nothing> written) {
    try {
        if (written) factory_.rooms().memories.keep(id);
    } catch (const Error& error) {
        written = std::unexpected{error};
    }
    Parking& parking = parking_.at(id);
    parking.writing = false;
    const auto found = boxes_.find(id);
    if (!written) {
        factory_.rooms().memories.remove(id);
        const bool lives = found != boxes_.end() && !engine::has_ended(found->second.process);
        const StatsHandler failed = std::exchange(parking.done, [](const auto&) {});
        if (lives) {
            parking_.erase(id);
            found->second.record.stage = Stage::handed_out;
            factory_.keep(found->second);
            if (killers_.contains(id)) destroy(found->second);
            return failed(std::unexpected{written.error()});
        }
        failed(std::unexpected{Error{written.error()}.in("the sandbox has ended, its disk is kept")});
    }
    if (found != boxes_.end()) return park(found->second, std::move(parking_.extract(id).mapped()));
    const wire::BoxStats last = parking.last.value_or(wire::BoxStats{.id = id});
    take_down_later(id, last, Millis{0});
}

// Its end is that of its processes only.
void Boxes::park(Box& box, Parking parking) {
    BoxRecord record = box.record;
    record.stage = Stage::stored;
    record.frozen = false;
    factory_.keep_durably(record);
    box.record = std::move(record);
    parking_.insert_or_assign(box.record.id, std::move(parking));
    engine::kill_process(box.process);
    box.group.kill();
}

void Boxes::take_down_later(const std::string& id, wire::BoxStats last, Millis delay) {
    leftovers_[id] = loop_.after(delay, [this, id, last, delay] {
        leftovers_.erase(id);
        bool gone = false;
        try {
            gone = factory_.take_down(id);
        } catch (const Error& error) {
            log::warn("could not take down all of a sandbox yet", {{"id", id}, {"why", error.message()}});
        }
        if (gone) return sync_stored(id, last);
        take_down_later(id, last, std::clamp(delay * 2, kFirstRetry, kLongestRetry));
    });
}

// Nothing of it runs. What its owner is told next must hold after a power cut.
void Boxes::sync_stored(const std::string& id, const wire::BoxStats& last) {
    const auto finish = [this, id, last](const Result<engine::Nothing>& synced) {
        Result<wire::BoxStats> outcome = last;
        try {
            if (!synced) throw synced.error();
            factory_.keep_durably(stored_.at(id).record);
        } catch (const Error& error) {
            outcome = std::unexpected{error};
        }
        const auto parking = parking_.extract(id);
        stop_being_busy(id);
        if (!parking.empty()) {
            parking.mapped().done(std::move(outcome));
        } else {  // it died on its way, and nobody waits any more
            on_event_({.kind = wire::EventKind::died, .id = id, .last = last});
        }
    };
    try {
        sync_disk(id, finish);
    } catch (const Error& error) {
        finish(std::unexpected{error});
    }
}

// Beside the loop: there may be much to write.
void Boxes::sync_disk(const std::string& id, const std::function<void(Result<engine::Nothing>)>& done) {
    const auto sync = [disk = std::make_shared<Fd>(factory_.rooms().store.box(id))] {
        sys(::syncfs(disk->get()), "sync the disk");
    };
    chores_.start<engine::Nothing>(engine::forked_doing(sync, [] {}), done);
}

// Whoever wanted it gone meanwhile has it now.
void Boxes::stop_being_busy(const std::string& id) {
    const auto found = stored_.find(id);
    if (found == stored_.end()) return;
    found->second.busy = false;
    if (killers_.contains(id)) discard_stored(id);
}

void Boxes::discard_stored(const std::string& id) {
    stored_.erase(id);
    dismantle_later(id, Millis{0});
    if (const auto waiting = killers_.extract(id)) {
        for (const KillHandler& done : waiting.mapped()) done({.id = id});
    }
}

// --- and back
// ------------------------------------------------------------------------------------------------

void Boxes::wake(const std::string& id, CreateHandler done) {
    Stored& stored = idle_stored(id);
    if (stored.record.held)
        throw Error{Errc::failed_precondition, Fault::oyat_operator, "the operator holds it"};
    if (closed_) throw Error{Errc::unavailable, Fault::engine, "the server is stopping"};
    if (living() >= options_.limits.max_boxes) {
        throw Error{Errc::exhausted, std::to_string(options_.limits.max_boxes) +
                                         " sandboxes run, the most that this server may"};
    }
    factory_.require_room();
    Plan plan;
    plan.record = stored.record;
    plan.disk = Plan::Disk::its_own;
    const bool memory = factory_.rooms().memories.has(id);
    if (memory) plan.memory = factory_.rooms().memories.open(id);
    stored.busy = true;
    const auto finish = [this, id, done](Result<Made> made) {
        if (!made) {
            stop_being_busy(id);
            return done(std::unexpected{made.error()});
        }
        try {
            // The brakes may have been pulled meanwhile.
            const BoxRecord stored = std::move(stored_.extract(id).mapped().record);
            Box& box = insert(std::move(made->box));
            box.record.egress_off = stored.egress_off;
            const wire::BoxLimits limits = box.record.limits;
            const std::int64_t created = box.record.created_ms;
            // No program has run yet: until here the memory fits the disk.
            Handed handed = give(box, limits, box.record.owner_tag);
            box.record.created_ms = created;
            factory_.keep(box);
            factory_.rooms().memories.remove(id);
            handed.message.box.created_ms = created;
            handed.message.phases = std::move(made->phases);
            if (stored.held) hold({id}, [](const auto&) {});
            if (killers_.contains(id)) destroy(box);
            done(std::move(handed));
        } catch (const Error& error) {
            done(std::unexpected{error});
        }
    };
    make(std::move(plan), finish);
}

void Boxes::reset(const std::string& id, const std::string& snapshot, DoneHandler done) {
    Stored& stored = idle_stored(id);
    if (!snapshot.empty()) {
        const wire::SnapshotInfo& to = snapshots_.find(snapshot);
        if (to.template_digest != stored.record.template_digest || to.engine != stored.record.engine) {
            throw Error{Errc::failed_precondition,
                        "the snapshot is one of another template or engine than the sandbox's"};
        }
    }
    factory_.require_room();
    BoxRecord record = stored.record;
    record.reset_to = snapshot.empty() ? kItsTemplate : snapshot;
    factory_.keep_durably(record);  // from here on it is carried through, by the next keeper if need be
    stored.record = std::move(record);
    begin_reset(id, std::move(done));
}

void Boxes::begin_reset(const std::string& id, DoneHandler done) {
    Stored& stored = stored_.at(id);
    const Rooms& rooms = factory_.rooms();
    const layers::DiskLimit limit = disk_limit(stored.record.limits);
    const std::string from = stored.record.reset_to == kItsTemplate ? "" : stored.record.reset_to;
    stored.busy = true;
    if (!from.empty()) ++copied_from_[from];
    const auto finish = [this, id, from, done](const Result<engine::Nothing>& filled) {
        if (!from.empty() && --copied_from_[from] == 0) copied_from_.erase(from);
        Result<void> outcome;
        try {
            if (!filled) throw filled.error();
            BoxRecord record = stored_.at(id).record;
            record.reset_to.clear();
            factory_.keep_durably(record);
            stored_.at(id).record = std::move(record);
        } catch (const Error& error) {
            outcome = std::unexpected{error};
        }
        stop_being_busy(id);
        sweeper_.kick();
        done(outcome);
    };
    try {
        rooms.memories.remove(id);
        rooms.store.discard(id);
        if (from.empty()) {
            static_cast<void>(rooms.store.make_box(id, limit));
            return finish(engine::Nothing{});
        }
        rooms.store.begin_box_of(from, id, limit);
        if (rooms.store.begins_full()) return finish(engine::Nothing{});
        chores_.start<engine::Nothing>(
            engine::forked_doing([&store = rooms.store, from, id] { store.fill(from, id); }, [] {}), finish);
    } catch (const Error& error) {
        finish(std::unexpected{error});
    }
}

}  // namespace oyat::keeper
