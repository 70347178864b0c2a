#pragma once

#include <cstdint>
#include <optional>

#include "base/clock.hpp"
#include "cgroup/group.hpp"
#include "engine/common/process.hpp"
#include "keeper/record.hpp"
#include "layers/id_range.hpp"
#include "netns/netns.hpp"

namespace oyat::keeper {

// A living sandbox as the keeper holds it: its record, and handles to what the record names in the kernel.
struct Box {
    BoxRecord record;
    engine::Process process;
    cgroup::Group group;
    layers::IdRange range;
    netns::Netns netns;
    // Our copies of what oyatd serves, so that they can be taken from it: a newer oyatd gets new ones. Empty
    // for a box that a former keeper started, until oyatd attaches.
    std::optional<netns::Listeners> listeners;
    std::uint64_t oom_kills = 0;  // of which oyatd was told
    bool facts_shown = false;     // /proc inside tells its limits
    bool busy = false;            // something copies it
};

// Ends connections and datagrams to whoever holds copies of these sockets, us included.
void revoke(netns::Listeners& listeners) noexcept;

}  // namespace oyat::keeper
