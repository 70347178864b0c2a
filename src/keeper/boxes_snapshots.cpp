#include <algorithm>
#include <chrono>
#include <utility>

#include "base/id.hpp"
#include "base/throwing.hpp"
#include "engine/common/forked_work.hpp"
#include "keeper/boxes.hpp"

// Copies of boxes: of those that are stored, of those that stand still for it, and with memory.
namespace oyat::keeper {
namespace {

constexpr Millis kFreezeWait{250};

bool can(const wire::EngineInfo& engine, std::string_view what) {
    return std::ranges::find(engine.capabilities, what) != engine.capabilities.end();
}

std::uint64_t micros_since(MonoTime begin) {
    const auto spent = std::chrono::steady_clock::now() - begin;
    return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::microseconds>(spent).count());
}

}  // namespace

void Boxes::make_snapshot(const std::string& id, bool memory, SnapshotHandler done) {
    factory_.require_room();
    const auto stored = stored_.find(id);
    const BoxRecord& record =
        stored != stored_.end() ? idle_stored(id).record : std::as_const(handed_out(id)).record;
    wire::SnapshotInfo info{.id = new_snapshot_id(),
                            .box = id,
                            .template_digest = record.template_digest,
                            .engine = record.engine,
                            .memory = memory,
                            .limits = record.limits,
                            .created_ms = unix_millis(std::chrono::system_clock::now())};
    const wire::EngineInfo engine = factory_.engine_of(record).info();
    if (memory && !can(engine, "memory_snapshot")) {
        throw Error{Errc::unimplemented, Fault::engine,
                    "a " + record.engine + " can't write its memory; gvisor and microvm can"};
    }
    if (stored != stored_.end()) return snapshot_of_stored(id, std::move(info), std::move(done));
    Box& box = handed_out(id);
    if (box.busy) throw Error{Errc::failed_precondition, "it is being copied already"};
    if (!memory) {
        if (!can(engine, "disk_snapshot")) {
            throw Error{Errc::unimplemented, Fault::engine,
                        "a " + record.engine + " that runs can be copied with its memory only"};
        }
        return snapshot_of_frozen(box, std::move(info), std::move(done));
    }
    static_cast<void>(free_to_change(id));
    try {
        snapshot_with_memory(box, info, done);
    } catch (const Error& error) {
        if (error.code() != Errc::unimplemented) throw;
        snapshot_by_storing(std::move(info), std::move(done));
    }
}

void Boxes::snapshot_of_stored(const std::string& id, wire::SnapshotInfo info, SnapshotHandler done) {
    const Rooms& rooms = factory_.rooms();
    if (info.memory && !rooms.memories.has(id))
        throw Error{Errc::failed_precondition, "the sandbox is stored without its memory"};
    const auto copy = [&rooms, id, to = info.id, memory = info.memory] {
        rooms.store.save(id, to);
        if (memory) rooms.memories.copy(id, to);
    };
    chores_.start<engine::Nothing>(
        engine::forked_doing(copy, [] {}),
        [this, id, info = std::move(info), done = std::move(done)](const Result<engine::Nothing>& copied) {
            stop_being_busy(id);
            keep_snapshot(info, copied, true, done);
        });
    stored_.at(id).busy = true;
}

void Boxes::snapshot_of_frozen(Box& box, wire::SnapshotInfo info, SnapshotHandler done) {
    const std::string id = box.record.id;
    const auto let_go = [this, id] {
        Box* living = living_box(id);
        if (living == nullptr) return false;
        living->busy = false;
        if (!living->record.frozen && !living->record.held) living->group.thaw();
        return true;
    };
    const MonoTime begin = std::chrono::steady_clock::now();
    box.busy = true;
    try {
        if (!box.record.frozen && !box.record.held && !box.group.freeze(kFreezeWait)) {
            throw Error{Errc::unavailable, Fault::engine,
                        "a process of the sandbox can't be stopped right now"};
        }
        chores_.start<engine::Nothing>(
            engine::forked_doing([&store = factory_.rooms().store, id, to = info.id] { store.save(id, to); },
                                 [] {}),
            [this, let_go, begin, info, done](const Result<engine::Nothing>& copied) {
                const bool there = let_go();
                wire::SnapshotInfo made = info;
                made.stood_still_us = micros_since(begin);
                keep_snapshot(std::move(made), copied, there, done);
            });
    } catch (const Error&) {
        let_go();
        throw;
    }
}

void Boxes::snapshot_with_memory(Box& box, wire::SnapshotInfo info, SnapshotHandler done) {
    const std::string id = box.record.id;
    const Rooms& rooms = factory_.rooms();
    const MonoTime begin = std::chrono::steady_clock::now();
    const Fd into = rooms.memories.begin(info.id);
    chores_.start<engine::Nothing>(
        factory_.engine_of(box.record)
            .checkpoint({.id = box.record.id, .process = box.process, .group = box.group}, into.get(),
                        engine::Engine::Afterwards::goes_on,
                        [&store = rooms.store, id, to = info.id] { store.save(id, to); }),
        [this, id, begin, info, done](const Result<engine::Nothing>& written) {
            Box* living = living_box(id);
            if (living != nullptr) living->busy = false;
            wire::SnapshotInfo made = info;
            made.stood_still_us = micros_since(begin);
            Result<engine::Nothing> outcome = written;
            try {
                if (written) factory_.rooms().memories.keep(made.id);
            } catch (const Error& error) {
                outcome = std::unexpected{error};
            }
            keep_snapshot(std::move(made), outcome, living != nullptr, done);
        });
    box.busy = true;
}

// For an engine whose sandbox does not outlive its memory's writing: it is stored, copied, and woken again.
void Boxes::snapshot_by_storing(wire::SnapshotInfo info, SnapshotHandler done) {
    const std::string id = info.box;
    const MonoTime begin = std::chrono::steady_clock::now();
    store(id, true, [this, id, begin, info, done](const Result<wire::BoxStats>& stored) {
        if (!stored) return done(std::unexpected{stored.error()});
        const auto woken = [this, id, begin, done](Result<wire::SnapshotInfo> copied) {
            try {
                wake(id, [begin, done, copied](const Result<Handed>& again) {
                    if (!again) return done(std::unexpected{again.error()});
                    Result<wire::SnapshotInfo> made = copied;
                    if (made) made->stood_still_us = micros_since(begin);
                    done(std::move(made));
                });
            } catch (const Error& error) {
                done(std::unexpected{error});
            }
        };
        try {
            snapshot_of_stored(id, info, woken);
        } catch (const Error& error) {
            woken(std::unexpected{error});
        }
    });
}

void Boxes::keep_snapshot(wire::SnapshotInfo info, const Result<engine::Nothing>& copied, bool still_there,
                          const SnapshotHandler& done) {
    try {
        if (!copied) throw copied.error();
        if (!still_there) throw Error{Errc::unavailable, "the sandbox ended meanwhile"};
        info.memory_bytes = info.memory ? factory_.rooms().memories.bytes(info.id) : 0;
        if (boxes_.contains(info.box) || stored_.contains(info.box)) {
            info.disk_bytes = factory_.rooms().store.use(info.box).bytes;
        }
        snapshots_.keep(info);
        done(std::move(info));
    } catch (const Error& error) {
        snapshots_.drop_parts(info.id);
        sweeper_.kick();
        done(std::unexpected{error});
    }
}

void Boxes::remove_snapshot(const std::string& snapshot) {
    if (copied_from_.contains(snapshot))
        throw Error{Errc::failed_precondition, "sandboxes are being made of the snapshot"};
    snapshots_.remove(snapshot);
    sweeper_.kick();
}

}  // namespace oyat::keeper
