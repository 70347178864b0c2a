#include "keeper/recovery.hpp"

#include <poll.h>

#include "base/id.hpp"
#include "base/log.hpp"
#include "base/throwing.hpp"

namespace oyat::keeper {
namespace {

constexpr int kRounds = 500;
constexpr int kRoundMs = 10;

}  // namespace

Recovery::Outcome Recovery::run(Boxes& boxes) {
    Outcome outcome;
    std::set<std::string> leftovers = known_names();
    std::vector<BoxRecord> on_disk;
    for (const BoxRecord& record : rooms_.records.read_all()) {
        try {
            std::optional<Box> box = factory_.adopt(record);
            if (!box) {
                if (keeps_its_disk(record)) on_disk.push_back(record);
                continue;
            }
            boxes.adopt(*std::move(box));
            leftovers.erase(record.id);
            ++outcome.adopted;
        } catch (const Error& error) {
            log::error("a sandbox could not be taken up again",
                       {{"id", record.id}, {"why", error.message()}});
        }
    }
    for (const BoxRecord& record : on_disk) leftovers.erase(record.id);
    outcome.destroyed = leftovers.size();
    destroy(leftovers, Extent::everything);
    std::set<std::string> ended;
    for (const BoxRecord& record : on_disk) ended.insert(record.id);
    destroy(ended, Extent::what_runs);
    for (BoxRecord& record : on_disk) {
        const std::string id = record.id;
        try {
            boxes.adopt_stored(std::move(record));
            ++outcome.stored;
        } catch (const Error& error) {
            log::error("a stored sandbox could not be taken up again",
                       {{"id", id}, {"why", error.message()}});
        }
    }
    rooms_.ids.release_unused();
    return outcome;
}

// What was paused or put to disk survives the end of its processes, and of the machine's run.
bool Recovery::keeps_its_disk(const BoxRecord& record) const {
    if (record.stage == Stage::stored || record.stage == Stage::storing) return true;
    return record.stage == Stage::handed_out && record.frozen && record.boot_id != rooms_.boot_id;
}

// Every name that any part of a box bears.
std::set<std::string> Recovery::known_names() const {
    std::set<std::string> names;
    for (const BoxRecord& record : rooms_.records.read_all()) names.insert(record.id);
    for (auto& list : {rooms_.groups.names(), rooms_.store.boxes(), rooms_.doors.ids()}) {
        names.insert(list.begin(), list.end());
    }
    for (const engine::Engine* engine : rooms_.engines.all()) {
        for (std::string& id : engine->remembered()) names.insert(std::move(id));
    }
    for (std::string& id : rooms_.memories.ids()) names.insert(std::move(id));
    // Whatever else lies there must not keep the server from starting.
    std::erase_if(names, [](const std::string& name) { return !is_sandbox_id(name); });
    return names;
}

void Recovery::destroy(const std::set<std::string>& names, Extent extent) {
    std::set<std::string> left = names;
    for (const std::string& name : left) {
        if (const std::optional<cgroup::Group> group = rooms_.groups.find(name)) group->kill();
    }
    for (int round = 0; !left.empty() && round < kRounds; ++round) {
        std::erase_if(left, [&](const std::string& name) { return gone(name, extent); });
        if (!left.empty()) ::poll(nullptr, 0, kRoundMs);
    }
    for (const std::string& name : left)
        log::error("what is left of a sandbox can't be removed", {{"id", name}});
}

bool Recovery::gone(const std::string& name, Extent extent) {
    try {
        return extent == Extent::everything ? factory_.dismantle(name) : factory_.take_down(name);
    } catch (const Error& error) {
        log::warn("what is left of a sandbox can't be removed yet", {{"id", name}, {"why", error.message()}});
        return false;
    }
}

}  // namespace oyat::keeper
