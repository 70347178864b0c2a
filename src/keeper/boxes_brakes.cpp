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

}  // namespace

std::vector<std::string> Boxes::handed_out_ids() const {
    std::vector<std::string> ids;
    for (const auto& [id, box] : boxes_) {
        if (box.record.stage == Stage::handed_out) ids.push_back(id);
    }
    return ids;
}

// First all are told, so that none runs on while another is waited for; then it is written down.
void Boxes::hold(const std::vector<std::string>& ids, const HoldHandler& done) {
    std::vector<Box*> fresh;
    std::vector<std::string> moving;
    for (const std::string& id : ids) {
        Box* box = living_box(id);
        if (box == nullptr) continue;
        if (!std::exchange(box->record.held, true)) fresh.push_back(box);
        if (!stands_still(*box)) moving.push_back(id);
    }
    for (const Box* box : fresh) factory_.keep(*box);
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
        Box* box = living_box(id);
        if (box == nullptr || !box->record.held) continue;
        box->record.held = false;
        factory_.keep(*box);
        if (!box->record.frozen) box->group.thaw();
    }
}

void Boxes::set_egress_off(const std::vector<std::string>& ids, bool off) {
    for (const std::string& id : ids) {
        Box* box = living_box(id);
        if (box == nullptr || box->record.egress_off == off) continue;
        box->record.egress_off = off;
        factory_.keep(*box);
    }
}

}  // namespace oyat::keeper
