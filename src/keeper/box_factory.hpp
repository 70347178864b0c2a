#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cgroup/parent.hpp"
#include "engine/jail/cpu_shares.hpp"
#include "engine/jail/facts.hpp"
#include "engine/jail/jail.hpp"
#include "keeper/agent_doors.hpp"
#include "keeper/box.hpp"
#include "keeper/operator_layers.hpp"
#include "keeper/record.hpp"
#include "layers/id_range.hpp"
#include "layers/staging.hpp"
#include "layers/store.hpp"
#include "layers/templates.hpp"
#include "netns/netns_pool.hpp"

namespace oyat::keeper {

// Puts boxes together out of the rooms below, and takes them apart again. Each part is named by the box's id,
// and the record is written before the first of them exists: whatever a killed keeper leaves is found by its
// name.
class BoxFactory {
public:
    struct Rooms {
        const Records& records;
        layers::IdRanges& ids;
        layers::Store& store;
        layers::Templates& templates;
        layers::Staging& staging;
        cgroup::Parent& groups;
        netns::NetnsPool& namespaces;
        const AgentDoors& doors;
        jail::Launcher& launcher;
        OperatorLayers& operator_layers;
        std::uint64_t open_files;
        std::string boot_id;
    };

    explicit BoxFactory(const Rooms& rooms);

    struct Made {
        Box box;
        std::vector<wire::Phase> phases;
    };

    // Throws when the disk below the store is nearly full: those who run are to go on (threats X-10).
    void require_room() const;

    // A running jail of the template, as `pooled`. Throws, and leaves nothing, when any step fails.
    [[nodiscard]] Made make(const std::string& template_digest, const wire::BoxLimits& limits);

    // What /proc says inside, ahead of the request for a box that goes to the pool.
    void show_facts(Box& box) const;

    // Turns a pooled box into somebody's sandbox: its limits, what /proc says, its record.
    void hand_out(Box& box, const wire::BoxLimits& limits, const std::string& owner_tag);

    // Changes the limits of a box in use.
    void set_limits(Box& box, const wire::BoxLimits& limits);

    // Writes its record as it is now.
    void keep(const Box& box) const { rooms_.records.write(box.record); }

    // The box that a record speaks of, if its process lives.
    [[nodiscard]] std::optional<Box> adopt(const BoxRecord& record);

    // Gives back what is only ours to give: the range of ids of a box whose processes are gone.
    void release(const Box& box) noexcept;

    // A new connection to its agent.
    [[nodiscard]] Fd connect_agent(const Box& box) const { return rooms_.doors.connect(box.record.id); }

    [[nodiscard]] wire::BoxStats stats(const Box& box) const;
    // Brings what /proc says inside up to date.
    void refresh_facts(const Box& box, const wire::BoxStats& stats) const;

    // Removes what a box whose processes are gone has left, its record last. False while the kernel still
    // holds a part: call again later.
    [[nodiscard]] bool dismantle(std::string_view id);

private:
    void enforce(const Box& box, const wire::BoxLimits& limits) const;
    void apply_facts(const Box& box, const wire::BoxStats& stats, jail::Which which) const;

    Rooms rooms_;
    jail::Processors processors_;
    jail::CpuShares cpus_;
};

}  // namespace oyat::keeper
