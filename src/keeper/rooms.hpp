#pragma once

#include <cstdint>
#include <string>

#include "cgroup/parent.hpp"
#include "engine/common/agent_doors.hpp"
#include "keeper/engines.hpp"
#include "keeper/memories.hpp"
#include "keeper/operator_layers.hpp"
#include "keeper/record.hpp"
#include "layers/id_range.hpp"
#include "layers/store.hpp"
#include "layers/templates.hpp"
#include "netns/netns_pool.hpp"

namespace oyat::keeper {

// What boxes are made of, one for the life of the keeper.
struct Rooms {
    const Records& records;
    layers::IdRanges& ids;
    layers::Store& store;
    layers::Templates& templates;
    cgroup::Parent& groups;
    netns::NetnsPool& namespaces;
    const engine::AgentDoors& doors;
    const Engines& engines;
    const Memories& memories;
    OperatorLayers& operator_layers;
    std::uint64_t open_files;
    std::string boot_id;
};

[[nodiscard]] inline cgroup::Limits group_limits(const wire::BoxLimits& limits,
                                                 const engine::Engine& engine) {
    const engine::Engine::Overhead own = engine.overhead();
    return {.memory_bytes = limits.memory_bytes + own.memory_bytes,
            .cpu_millis = limits.cpu_millis,
            .processes = limits.processes + own.processes,
            .io_bytes_per_second = limits.io_bytes_per_second};
}

[[nodiscard]] inline layers::DiskLimit disk_limit(const wire::BoxLimits& limits) {
    return {.bytes = limits.disk_bytes, .inodes = limits.disk_inodes};
}

}  // namespace oyat::keeper
