#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "cgroup/parent.hpp"
#include "keeper/boxes.hpp"
#include "netns/netns_pool.hpp"

namespace oyat::keeper {

// Counts what the kernel holds for this state, from its own lists and not from our memory of it.
class Census {
public:
    Census(const cgroup::Parent& groups, const netns::NetnsPool& namespaces, std::string_view state_id);

    struct Figures {
        wire::HeldCounts held;    // of sandboxes that were handed out
        wire::HeldCounts pooled;  // the rest: warm ones, ready namespaces, what is just going away
    };
    [[nodiscard]] Figures take(const Boxes& boxes);

private:
    std::uint32_t mounts_of(const Box& box);
    [[nodiscard]] std::map<std::string, std::uint32_t> processes_by_box() const;

    const cgroup::Parent& groups_;
    const netns::NetnsPool& namespaces_;
    std::string mark_;  // in the control groups of our processes
    // A jail's mounts never change once it runs, so each table is read once.
    std::map<std::string, std::uint32_t> mounts_;
};

}  // namespace oyat::keeper
