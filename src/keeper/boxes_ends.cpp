#include <algorithm>
#include <utility>

#include "base/log.hpp"
#include "base/throwing.hpp"
#include "keeper/boxes.hpp"

// How boxes end, asked or not, and what is taken away afterwards.
namespace oyat::keeper {
namespace {

constexpr Millis kFirstRetry{1};  // of a dismantling that the kernel is not ready for
constexpr Millis kLongestRetry{200};

}  // namespace

// Everything in it is told to die; what follows happens when pid 1, and with it the last process, has.
void Boxes::destroy(Box& box) {
    if (box.record.stage == Stage::ending) return;
    box.record.stage = Stage::ending;
    pool_.remove(box.record.id);
    engine::kill_process(box.process);
    box.group.kill();
}

void Boxes::on_ended(const std::string& id) {
    const auto found = boxes_.find(id);
    if (found == boxes_.end()) return;
    Box& box = found->second;
    const bool asked = box.record.stage == Stage::ending || box.record.stage == Stage::stored;
    const bool owned = box.record.stage == Stage::handed_out;
    const bool stays = box.record.stage == Stage::stored || box.record.stage == Stage::storing;
    const BoxRecord record = box.record;
    const wire::BoxStats last = last_stats(box);
    loop_.forget(box.process.pidfd.get());
    engine::reap(box.process);
    if (!asked) {
        pool_.remove(id);
        box.group.kill();
    }
    oom_watch_.remove(id);
    if (box.listeners) revoke(*box.listeners);
    factory_.release(box);
    boxes_.erase(found);
    if (stays) {
        BoxRecord stored = record;
        stored.stage = Stage::stored;
        stored.frozen = false;
        stored_.insert_or_assign(id, Stored{.record = std::move(stored), .busy = true});
        const auto parking = parking_.find(id);
        if (parking == parking_.end() || !parking->second.writing)
            return take_down_later(id, last, Millis{0});
        parking->second.last = last;
        return;
    }
    dismantle_later(id, Millis{0});

    if (const auto waiting = killers_.extract(id)) {
        for (const KillHandler& done : waiting.mapped()) done(last);
    }
    if (owned) {
        log::info("a sandbox ended by itself", {{"id", id}});
        on_event_({.kind = wire::EventKind::died, .id = id, .last = last});
    }
    if (!asked && !owned) refill_later(kRefillRetry);
}

// What can still be told of a box that has ended.
wire::BoxStats Boxes::last_stats(const Box& box) const {
    try {
        return factory_.stats(box);
    } catch (const Error& error) {
        log::warn("no last figures of a sandbox", {{"id", box.record.id}, {"why", error.message()}});
        return {.id = box.record.id};
    }
}

void Boxes::dismantle_later(std::string id, Millis delay) {
    const Loop::TimerId timer = loop_.after(delay, [this, id, delay] {
        leftovers_.erase(id);
        bool gone = false;
        try {
            gone = factory_.dismantle(id);
        } catch (const Error& error) {
            // Not again and again: it is tried five times a second from here on.
            if (delay < kLongestRetry)
                log::warn("could not remove all of a sandbox yet", {{"id", id}, {"why", error.message()}});
        }
        if (gone) {
            sweeper_.kick();
            finish_closing();
        } else {
            dismantle_later(id, std::clamp(delay * 2, kFirstRetry, kLongestRetry));
        }
    });
    leftovers_[id] = timer;
}

void Boxes::close(Extent extent, std::function<void()> done) {
    closed_ = std::move(done);
    loop_.cancel(refill_timer_);
    for (auto& [id, box] : boxes_) {
        if (extent == Extent::everything || box.record.stage == Stage::pooled) destroy(box);
    }
    if (extent == Extent::everything) {
        std::vector<std::string> idle;
        for (const auto& [id, stored] : stored_) {
            if (stored.busy) {
                killers_[id].push_back([](const wire::BoxStats&) {});  // as soon as it is not
            } else {
                idle.push_back(id);
            }
        }
        for (const std::string& id : idle) discard_stored(id);
        while (!snapshots_.all().empty()) snapshots_.remove(std::string{snapshots_.all().begin()->first});
        sweeper_.kick();
    }
    finish_closing();
}

void Boxes::finish_closing() {
    if (!closed_ || !leftovers_.empty()) return;
    if (chores_.count() != 0) return;
    const auto ends = [](const auto& entry) { return entry.second.record.stage != Stage::handed_out; };
    if (std::ranges::any_of(boxes_, ends)) return;
    std::exchange(closed_, nullptr)();
}

}  // namespace oyat::keeper
