#include <algorithm>
#include <utility>

#include "base/throwing.hpp"
#include "keeper/boxes.hpp"

// Want of memory: who was killed for it, as the kernel tells.
namespace oyat::keeper {

// The log names the victim of a kill; the counters tell of kills that the log left out, a little later.
void Boxes::on_victim(const OomVictim& victim) {
    const auto of_group = [&](const auto& entry) { return victim.group.contains("/" + entry.first); };
    const auto found = std::ranges::find_if(boxes_, of_group);
    if (found == boxes_.end() || found->second.record.stage != Stage::handed_out) return;
    ++found->second.oom_kills;
    on_event_({.kind = wire::EventKind::oom,
               .id = found->first,
               .process = victim.name,
               .pid = engine::pid_inside(victim.pid),
               .count = 1});
}

void Boxes::end_for_memory(const std::string& id, std::string_view what) {
    const auto found = boxes_.find(id);
    if (found == boxes_.end() || found->second.record.stage != Stage::handed_out) return;
    on_event_({.kind = wire::EventKind::oom, .id = id, .process = std::string{what}, .count = 1});
    engine::kill_process(found->second.process);
    found->second.group.kill();
}

void Boxes::on_oom_hint() {
    constexpr Millis kLogDelay{50};
    for (const std::string& id : oom_watch_.take()) {
        loop_.after(kLogDelay, [this, id] { report_oom(id); });
    }
}

void Boxes::report_oom(const std::string& id) {
    const auto found = boxes_.find(id);
    if (found == boxes_.end() || found->second.record.stage != Stage::handed_out) return;
    Box& box = found->second;
    const std::uint64_t kills = box.group.stats().oom_kills;
    if (kills <= box.oom_kills) return;
    on_event_(
        {.kind = wire::EventKind::oom, .id = id, .count = static_cast<std::uint32_t>(kills - box.oom_kills)});
    box.oom_kills = kills;
}

}  // namespace oyat::keeper
