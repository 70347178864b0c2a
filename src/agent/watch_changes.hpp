#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "wire/agent_messages.hpp"

namespace oyat::agent {

// What a watch has seen and the host has not been told yet. Full is a wish: whoever adds more after it was
// asked is taken at their word, but should come to an end soon.
class WatchChanges {
public:
    [[nodiscard]] bool empty() const { return changes_.empty(); }
    [[nodiscard]] bool full() const { return changes_.size() >= kMost || bytes_ >= kMostBytes; }
    // Nothing new: the latest change says the same already.
    [[nodiscard]] bool repeats(wire::WatchKind kind, const std::string& name) const {
        return !changes_.empty() && changes_.back().kind == kind && changes_.back().name == name;
    }

    void add(wire::WatchChange change);
    // The oldest ones, encoded as one event.
    [[nodiscard]] std::string take_event();

private:
    static constexpr std::size_t kMost = 65'536;
    static constexpr std::size_t kMostBytes = 8 * 1024 * 1024;

    std::deque<wire::WatchChange> changes_;
    std::size_t bytes_ = 0;
};

}  // namespace oyat::agent
