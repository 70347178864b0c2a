#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wire/codec.hpp"
#include "wire/keeper_boxes.hpp"

// What oyatd and the keeper say about sandboxes on disk. Part of keeper_messages.hpp, which says how they
// travel.
namespace oyat::wire {

// A copy of a sandbox that never changes: its changed files and, with `memory`, its processes. It needs its
// template and nothing else: no chain of snapshots leads to it.
struct SnapshotInfo {
    static constexpr bool kIsMessage = true;
    std::string id;   // s + 20 of [a-z0-9], chosen by the keeper, never reused
    std::string box;  // whose it was
    std::string template_digest;
    std::string engine;
    bool memory = false;
    BoxLimits limits;  // of that sandbox
    std::uint64_t disk_bytes = 0;
    std::uint64_t memory_bytes = 0;
    std::int64_t created_ms = 0;
    std::uint64_t stood_still_us = 0;  // how long the sandbox was stopped for it
    template <class V>
    void fields(V& v) {
        v(1, id);
        v(2, box);
        v(3, template_digest);
        v(4, engine);
        v(5, memory);
        v(6, limits);
        v(7, disk_bytes);
        v(8, memory_bytes);
        v(9, created_ms);
        v(10, stood_still_us);
    }
};

// Of one that runs, or is paused or stored. It goes on as it was afterwards. With `memory` its agent must
// have been quiesced, and its connection is over: attach again. What was acknowledged survives a power cut.
// Reply: SnapshotInfo.
struct MakeSnapshot {
    static constexpr bool kIsMessage = true;
    std::string id;
    bool memory = false;
    template <class V>
    void fields(V& v) {
        v(1, id);
        v(2, memory);
    }
};
struct ListSnapshots {
    static constexpr bool kIsMessage = true;
    std::string after;
    template <class V>
    void fields(V& v) {
        v(1, after);
    }
};
struct SnapshotList {  // sorted by id, from the first above `after`; `more` when the packet was full
    static constexpr bool kIsMessage = true;
    std::vector<SnapshotInfo> snapshots;
    bool more = false;
    template <class V>
    void fields(V& v) {
        v(1, snapshots);
        v(2, more);
    }
};
// Sandboxes that were made of it keep what they have.
struct RemoveSnapshot {
    static constexpr bool kIsMessage = true;
    std::string id;
    template <class V>
    void fields(V& v) {
        v(1, id);
    }
};

// Ends the processes and keeps the disk and, with `memory`, what the processes are: the agent must have been
// quiesced. It survives a power cut. Reply: BoxStats (last figures). The box is still listed, as `stored`.
struct StoreBox {
    static constexpr bool kIsMessage = true;
    std::string id;
    bool memory = false;
    template <class V>
    void fields(V& v) {
        v(1, id);
        v(2, memory);
    }
};
// Starts a stored one: where it was left, when its memory is there, else anew from its disk. Reply and
// descriptors as for AttachBox; its generation is another.
struct WakeBox {
    static constexpr bool kIsMessage = true;
    std::string id;
    template <class V>
    void fields(V& v) {
        v(1, id);
    }
};
// Puts the disk of a stored one back to a snapshot, or to its template (""). Its memory is forgotten.
struct ResetBox {
    static constexpr bool kIsMessage = true;
    std::string id;
    std::string snapshot;
    template <class V>
    void fields(V& v) {
        v(1, id);
        v(2, snapshot);
    }
};

}  // namespace oyat::wire
