#include "keeper/recovery.hpp"

#include <poll.h>

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
    for (const BoxRecord& record : rooms_.records.read_all()) {
        try {
            std::optional<Box> box = factory_.adopt(record);
            if (!box) continue;
            boxes.adopt(*std::move(box));
            leftovers.erase(record.id);
            ++outcome.adopted;
        } catch (const Error& error) {
            log::error("a sandbox could not be taken up again",
                       {{"id", record.id}, {"why", error.message()}});
        }
    }
    outcome.destroyed = leftovers.size();
    destroy(leftovers);
    rooms_.ids.release_unused();
    return outcome;
}

// Every name that any part of a box bears.
std::set<std::string> Recovery::known_names() const {
    std::set<std::string> names;
    for (const BoxRecord& record : rooms_.records.read_all()) names.insert(record.id);
    for (auto& list : {rooms_.groups.names(), rooms_.store.boxes(), rooms_.doors.ids()}) {
        names.insert(list.begin(), list.end());
    }
    return names;
}

void Recovery::destroy(const std::set<std::string>& names) {
    std::set<std::string> left = names;
    for (const std::string& name : left) {
        if (const std::optional<cgroup::Group> group = rooms_.groups.find(name)) group->kill();
    }
    for (int round = 0; !left.empty() && round < kRounds; ++round) {
        std::erase_if(left, [&](const std::string& name) { return gone(name); });
        if (!left.empty()) ::poll(nullptr, 0, kRoundMs);
    }
    for (const std::string& name : left)
        log::error("what is left of a sandbox can't be removed", {{"id", name}});
}

bool Recovery::gone(const std::string& name) {
    try {
        return factory_.dismantle(name);
    } catch (const Error& error) {
        log::warn("what is left of a sandbox can't be removed yet", {{"id", name}, {"why", error.message()}});
        return false;
    }
}

}  // namespace oyat::keeper
