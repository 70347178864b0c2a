#include "agent/watch_changes.hpp"

#include <utility>

#include "wire/codec.hpp"

namespace oyat::agent {
namespace {

constexpr std::size_t kEventChanges = 256;
constexpr std::size_t kEventBytes = 48 * 1024;

// Of a change in memory, about. Whoever is watched chooses its name, its path and what is written about it.
std::size_t bytes_of(const wire::WatchChange& change) {
    std::size_t bytes = sizeof change + change.name.size();
    if (!change.entry) return bytes;
    bytes += change.entry->path.size() + change.entry->link_target.size();
    for (const auto& [key, value] : change.entry->metadata) bytes += 64 + key.size() + value.size();
    return bytes;
}

}  // namespace

void WatchChanges::add(wire::WatchChange change) {
    bytes_ += bytes_of(change);
    changes_.push_back(std::move(change));
}

std::string WatchChanges::take_event() {
    wire::WatchEvents events;
    std::size_t size = 0;
    while (!changes_.empty() && events.changes.size() < kEventChanges && size < kEventBytes) {
        size += wire::encode(changes_.front()).size();
        bytes_ -= bytes_of(changes_.front());
        events.changes.push_back(std::move(changes_.front()));
        changes_.pop_front();
    }
    return wire::encode(events);
}

}  // namespace oyat::agent
