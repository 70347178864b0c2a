#include <utility>

#include "base/log.hpp"
#include "base/throwing.hpp"
#include "keeper/boxes.hpp"

// What the operator's brakes do to boxes.
namespace oyat::keeper {
namespace {

constexpr Millis kStandStill{500};  // for all of one order
constexpr Millis kLookAgain{2};

MonoTime now() {
    return std::chrono::steady_clock::now();
}

// Told, and done at once, as nearly always. One that is about to end is of no interest.
bool stands_still(const Box& box) {
    try {
        return box.group.freeze(Millis{0});
    } catch (const Error& error) {
        log::warn("a sandbox could not be held", {{"id", box.record.id}, {"why", error.message()}});
        return true;
    }
}

// Somebody has it, running, on its way to disk or there.
bool is_owned(const BoxRecord& record) {
    return record.stage == Stage::handed_out || record.stage == Stage::storing ||
           record.stage == Stage::stored;
}

}  // namespace

std::vector<std::string> Boxes::owned_ids() const {
    std::vector<std::string> ids;
    for (const auto& [id, box] : boxes_) {
        if (is_owned(box.record)) ids.push_back(id);
    }
    for (const auto& [id, stored] : stored_) ids.push_back(id);
    return ids;
}

BoxRecord* Boxes::owned_record(const std::string& id) {
    if (const auto found = boxes_.find(id); found != boxes_.end())
        return is_owned(found->second.record) ? &found->second.record : nullptr;
    const auto found = stored_.find(id);
    return found != stored_.end() ? &found->second.record : nullptr;
}

// First all are told, so that none runs on while another is waited for; then it is written down.
void Boxes::hold(const std::vector<std::string>& ids, const HoldHandler& done) {
    std::vector<const BoxRecord*> fresh;
    std::vector<std::string> moving;
    for (const std::string& id : ids) {
        BoxRecord* record = owned_record(id);
        if (record == nullptr) continue;
        if (!std::exchange(record->held, true)) fresh.push_back(record);
        const Box* box = living_box(id);
        if (box != nullptr && !stands_still(*box)) moving.push_back(id);
    }
    for (const BoxRecord* record : fresh) factory_.keep(*record);
    stand_still(moving, now() + kStandStill, done);
}

void Boxes::stand_still(const std::vector<std::string>& ids, MonoTime end, const HoldHandler& done) {
    std::vector<std::string> moving;
    for (const std::string& id : ids) {
        const Box* box = living_box(id);
        if (box != nullptr && box->record.held && !stands_still(*box)) moving.push_back(id);
    }
    if (moving.empty() || now() >= end) return done(std::move(moving));
    loop_.after(kLookAgain, [this, moving, end, done] { stand_still(moving, end, done); });
}

void Boxes::release(const std::vector<std::string>& ids) {
    for (const std::string& id : ids) {
        BoxRecord* record = owned_record(id);
        if (record == nullptr || !record->held) continue;
        record->held = false;
        factory_.keep(*record);
        const Box* box = living_box(id);
        if (box != nullptr && !record->frozen && !box->busy) box->group.thaw();
    }
}

void Boxes::set_egress_off(const std::vector<std::string>& ids, bool off) {
    for (const std::string& id : ids) {
        BoxRecord* record = owned_record(id);
        if (record == nullptr || record->egress_off == off) continue;
        record->egress_off = off;
        factory_.keep(*record);
    }
}

}  // namespace oyat::keeper
