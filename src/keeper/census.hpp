#pragma once

#include <set>
#include <string>
#include <string_view>

#include "cgroup/parent.hpp"
#include "keeper/boxes.hpp"
#include "netns/netns_pool.hpp"

namespace oyat::keeper {

// What the kernel holds for this state, counted from its own lists and not from our memory of it.
struct Census {
    wire::HeldCounts held;    // of sandboxes that were handed out
    wire::HeldCounts pooled;  // the rest: warm ones, ready namespaces, what is just going away
};

[[nodiscard]] Census take_census(const Boxes& boxes, const cgroup::Parent& groups,
                                 const netns::NetnsPool& namespaces, std::string_view state_id);

}  // namespace oyat::keeper
