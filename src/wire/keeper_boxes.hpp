#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "wire/codec.hpp"

// What oyatd and the keeper say about sandboxes and their record. Part of keeper_messages.hpp, which says how
// they travel.
namespace oyat::wire {

// Hard limits of one sandbox. 0 = the keeper's default; above the keeper's own ceiling = refused (D-02).
struct BoxLimits {
    static constexpr bool kIsMessage = true;
    std::uint64_t memory_bytes = 0;
    std::uint32_t cpu_millis = 0;  // 2000 = two CPUs
    std::uint32_t processes = 0;
    std::uint64_t disk_bytes = 0;
    std::uint64_t disk_inodes = 0;
    std::uint64_t io_bytes_per_second = 0;  // 0 = none
    template <class V>
    void fields(V& v) {
        v(1, memory_bytes);
        v(2, cpu_millis);
        v(3, processes);
        v(4, disk_bytes);
        v(5, disk_inodes);
        v(6, io_bytes_per_second);
    }
};

struct Phase {  // how long one step of a create took
    static constexpr bool kIsMessage = true;
    std::string name;  // queued, image, network, started
    std::uint64_t micros = 0;
    template <class V>
    void fields(V& v) {
        v(1, name);
        v(2, micros);
    }
};

// What is known of a living sandbox without asking its agent.
struct Box {
    static constexpr bool kIsMessage = true;
    std::string id;  // i + 20 of [a-z0-9], chosen by the keeper, never reused
    std::uint64_t generation = 0;
    std::string engine;           // "jail"
    std::string boundary;         // "shared-kernel"
    std::string template_digest;  // "sha256:<64 hex>"
    BoxLimits limits;             // in force
    bool frozen = false;
    bool warm = false;  // came out of the pool
    std::int64_t created_ms = 0;
    std::string owner_tag;      // opaque name that oyatd gave at create, [a-z0-9-]{0,40}
    std::string disk_limit_by;  // "btrfs-qgroup", "project-quota", "loop-image", "watched"
    std::string kernel;         // release that answers inside
    bool held = false;          // by the operator's brake
    bool egress_off = false;    // the same
    bool stored = false;        // on disk alone; nothing of it runs
    bool has_memory = false;    // stored with what its processes are
    template <class V>
    void fields(V& v) {
        v(1, id);
        v(2, generation);
        v(3, engine);
        v(4, boundary);
        v(5, template_digest);
        v(6, limits);
        v(7, frozen);
        v(8, warm);
        v(9, created_ms);
        v(10, owner_tag);
        v(11, disk_limit_by);
        v(12, kernel);
        v(13, held);
        v(14, egress_off);
        v(15, stored);
        v(16, has_memory);
    }
};

// Reply fds: [0] agent stream (connected unix SOCK_STREAM), [1] pidfd of pid 1, [2] TCP listener of the
// transparent proxy (SO_ORIGINAL_DST), [3] UDP socket of the name server, [4] TCP listener of the name
// server; all inside the sandbox's network namespace, non-blocking; [5] its first audit segment, as OpenAudit
// gives it: a create without a record is no use.
struct CreateBox {
    static constexpr bool kIsMessage = true;
    std::string template_digest;
    std::string engine;  // "": the server's default
    BoxLimits limits;
    std::string owner_tag;
    bool from_pool_only = false;  // claim mode "require": refuse with `exhausted` when none is warm
    bool never_pool = false;      // claim mode "never"
    std::string from_snapshot;    // "": a new one of the template
    template <class V>
    void fields(V& v) {
        v(1, template_digest);
        v(2, engine);
        v(3, limits);
        v(4, owner_tag);
        v(5, from_pool_only);
        v(6, never_pool);
        v(7, from_snapshot);
    }
};
struct BoxCreated {
    static constexpr bool kIsMessage = true;
    Box box;
    std::vector<Phase> phases;
    template <class V>
    void fields(V& v) {
        v(1, box);
        v(2, phases);
    }
};

struct ListBoxes {
    static constexpr bool kIsMessage = true;
    std::string after;
    template <class V>
    void fields(V& v) {
        v(1, after);
    }
};
struct BoxList {  // sorted by id, from the first above `after`; `more` when the packet was full
    static constexpr bool kIsMessage = true;
    std::vector<Box> boxes;
    bool more = false;
    template <class V>
    void fields(V& v) {
        v(1, boxes);
        v(2, more);
    }
};
// Fds [0] to [4] of CreateBox; the sockets are made anew, and the agent drops its earlier connection. Reply:
// BoxCreated.
struct AttachBox {
    static constexpr bool kIsMessage = true;
    std::string id;
    template <class V>
    void fields(V& v) {
        v(1, id);
    }
};
// Kills and reaps; the reply comes when no process is left. Trees are removed later. Reply: BoxStats (last
// figures).
struct KillBox {
    static constexpr bool kIsMessage = true;
    std::string id;
    template <class V>
    void fields(V& v) {
        v(1, id);
    }
};
struct FreezeBox {
    static constexpr bool kIsMessage = true;
    std::string id;
    bool frozen = false;
    template <class V>
    void fields(V& v) {
        v(1, id);
        v(2, frozen);
    }
};
struct UpdateLimits {
    static constexpr bool kIsMessage = true;
    std::string id;
    BoxLimits limits;
    template <class V>
    void fields(V& v) {
        v(1, id);
        v(2, limits);
    }
};
// The operator's brakes, which hold over restarts of both daemons and whatever pauses and resumes are asked
// for. hold: nothing inside runs. cut_egress: kept here for oyatd, which has the connections, to heed. With
// `all`: every sandbox, and as long as it is held no new one is made. Ids that are no more are passed over.
enum class Brake : std::uint8_t { none = 0, hold = 1, release = 2, cut_egress = 3, open_egress = 4 };
struct PullBrake {  // reply: BrakeFacts, once what it names stands still
    static constexpr bool kIsMessage = true;
    Brake brake = Brake::none;
    bool all = false;
    std::vector<std::string> ids;
    template <class V>
    void fields(V& v) {
        v(1, brake);
        v(2, all);
        v(3, ids);
    }
};
struct GetBrakes {
    static constexpr bool kIsMessage = true;
    bool reserved = false;
    template <class V>
    void fields(V& v) {
        v(1, reserved);
    }
};
struct BrakeFacts {
    static constexpr bool kIsMessage = true;
    std::string state_id;
    bool stopped = false;     // all are held, and none is made
    bool egress_off = false;  // of all
    std::uint32_t held = 0;   // by this order
    // Of those, who did not stand still within the time: they were told to, and will.
    std::vector<std::string> moving;
    std::vector<std::string> killed;  // lately, at the operator's own door
    template <class V>
    void fields(V& v) {
        v(1, state_id);
        v(2, stopped);
        v(3, egress_off);
        v(4, held);
        v(5, moving);
        v(6, killed);
    }
};
// A TCP socket of the sandbox's network namespace, connected (or refused) to 127.0.0.1:port. fd [0].
struct DialBox {
    static constexpr bool kIsMessage = true;
    std::string id;
    std::uint32_t port = 0;
    template <class V>
    void fields(V& v) {
        v(1, id);
        v(2, port);
    }
};
struct StatBoxes {
    static constexpr bool kIsMessage = true;
    std::vector<std::string> ids;
    template <class V>
    void fields(V& v) {
        v(1, ids);
    }
};
struct BoxStats {
    static constexpr bool kIsMessage = true;
    std::string id;
    std::uint64_t memory_now = 0, memory_peak = 0, memory_cache = 0, memory_limit = 0;
    std::uint64_t cpu_us = 0, throttled_us = 0;
    std::uint32_t processes = 0, processes_denied = 0, oom_kills = 0;
    std::uint64_t disk_used = 0, disk_limit = 0, inodes_used = 0, inodes_limit = 0;
    template <class V>
    void fields(V& v) {
        v(1, id);
        v(2, memory_now);
        v(3, memory_peak);
        v(4, memory_cache);
        v(5, memory_limit);
        v(6, cpu_us);
        v(7, throttled_us);
        v(8, processes);
        v(9, processes_denied);
        v(10, oom_kills);
        v(11, disk_used);
        v(12, disk_limit);
        v(13, inodes_used);
        v(14, inodes_limit);
    }
};
struct BoxStatsList {
    static constexpr bool kIsMessage = true;
    std::vector<BoxStats> stats;
    template <class V>
    void fields(V& v) {
        v(1, stats);
    }
};

// fd [0]: the audit file <state>/audit/<name>.<segment, six digits>.log, made when absent (0640, root and
// oyatd's group; the directory 0750), opened O_RDWR|O_APPEND, with the append-only attribute where the file
// system has it. `name` is [a-z0-9-]{1,40}; `segment` counts from 1. DropAudit refuses a segment that is
// younger than 30 days and among the newest 10 GiB.
struct OpenAudit {
    static constexpr bool kIsMessage = true;
    std::string name;
    std::uint32_t segment = 0;
    template <class V>
    void fields(V& v) {
        v(1, name);
        v(2, segment);
    }
};
struct DropAudit {
    static constexpr bool kIsMessage = true;
    std::string name;
    std::uint32_t segment = 0;
    template <class V>
    void fields(V& v) {
        v(1, name);
        v(2, segment);
    }
};

// Request fd [0]: a file of fixed size, at whose beginning the list of packages among the changed files of
// the box is written as text. Reply: how many bytes of it there are.
struct SearchPackages {
    static constexpr bool kIsMessage = true;
    std::string id;
    template <class V>
    void fields(V& v) {
        v(1, id);
    }
};
struct PackagesFound {
    static constexpr bool kIsMessage = true;
    std::uint64_t bytes = 0;
    template <class V>
    void fields(V& v) {
        v(1, bytes);
    }
};

}  // namespace oyat::wire
