#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "base/fd.hpp"
#include "core/limits.hpp"
#include "io/task.hpp"
#include "packages/listing.hpp"

namespace oyat::core {

struct Phase {
    std::string name;  // queued, image, network, started, ready
    std::uint64_t micros = 0;
};

// What the keeper knows of a living sandbox.
struct BoxFacts {
    std::string id;
    std::uint64_t generation = 0;
    std::string engine;
    std::string boundary;
    std::string template_digest;
    Limits limits;
    bool frozen = false;
    bool warm = false;
    WallTime created{};
    std::string owner_tag;
    std::string disk_limit_by;
    std::string kernel;
    bool held = false;        // by the operator's brake; `frozen` is what was asked for besides
    bool egress_off = false;  // the same
    bool stored = false;      // on disk alone; nothing of it runs
    bool has_memory = false;  // stored with what its processes are
};

// The operator's brakes. They are the keeper's to keep: it can pull them without us, and they hold over
// restarts of either daemon until they are lifted.
struct BrakeOrder {
    enum class Brake { hold, release, cut_egress, open_egress } brake = Brake::hold;
    bool all = false;
    std::vector<std::string> ids;  // when not all
};
struct BrakeFacts {
    bool stopped = false;             // all are held, and no new one is made
    bool egress_off = false;          // of all, those to come included
    std::uint32_t held = 0;           // by this order
    std::vector<std::string> moving;  // of those, who did not stand still in time
    std::vector<std::string> killed;  // lately, past us
};

// The descriptors that oyatd works with; all belong to the sandbox's own namespaces.
struct BoxHandles {
    Fd agent;  // connected stream to the agent
    Fd pidfd;  // of pid 1
    Fd tcp;    // listener of the transparent proxy
    Fd dns_udp;
    Fd dns_tcp;
};

struct NewBox {
    BoxFacts facts;
    BoxHandles handles;
    std::vector<Phase> phases;
};

struct BoxOrder {
    std::string template_digest;
    std::string engine;  // "" = server default
    Limits limits;
    std::string owner_tag;
    enum class Pool { prefer, never, require } pool = Pool::prefer;
    std::string from_snapshot;  // "": a new one of the template
};

// A copy of a sandbox that never changes. It needs its template and nothing else.
struct SnapshotFacts {
    std::string id;   // the keeper's, never reused
    std::string box;  // whose it was
    std::string template_digest;
    std::string engine;
    bool memory = false;  // its processes are in it
    Limits limits;
    std::uint64_t disk_bytes = 0;
    std::uint64_t memory_bytes = 0;
    WallTime created{};
    std::chrono::microseconds stood_still{0};  // how long the sandbox was stopped for it
};

struct BoxUsage {
    std::string id;
    std::uint64_t memory_now = 0, memory_peak = 0, memory_cache = 0, memory_limit = 0;
    std::uint64_t cpu_us = 0, throttled_us = 0;
    std::uint32_t processes = 0, processes_denied = 0, oom_kills = 0;
    std::uint64_t disk_used = 0, disk_limit = 0, inodes_used = 0, inodes_limit = 0;
};

struct TemplateFacts {
    std::string digest;  // "sha256:..."
    std::string name;
    std::uint64_t bytes = 0;
    std::uint64_t files = 0;
    WallTime created{};
};

struct EngineFacts {
    std::string name;
    bool available = false;
    std::string boundary;
    std::string reason;
    std::vector<std::string> capabilities;
    std::string version;
    std::string kernel;       // release that answers inside
    std::string accelerator;  // "": the processor itself
    bool emulated = false;    // a boundary that an emulator makes is not one between tenants
};
struct LimitFacts {
    std::string name;
    std::string mechanism;
    bool hard = false;
    std::uint64_t default_value = 0;
    std::uint64_t maximum = 0;
};
struct HeldFacts {
    std::uint32_t sandboxes = 0, mounts = 0, cgroups = 0, netns = 0, processes = 0;
};
struct KeeperFacts {
    std::string state_id;
    std::string kernel;
    std::string cgroup_mode;
    std::vector<EngineFacts> engines;
    std::vector<LimitFacts> limits;
    std::vector<std::string> probes;
    HeldFacts held;
    HeldFacts pooled;
};

// Something happened that nobody asked for.
struct KeeperNotice {
    enum class Kind {
        died,
        oom,
        template_progress,
        disk_full,
        brakes,
        link_lost,
        link_back
    } kind = Kind::died;
    std::string id;
    std::string process;  // oom: name of the killed process
    std::uint32_t pid = 0;
    std::uint32_t count = 0;
    std::string text;
    std::optional<BoxUsage> last;
};

// The process that is root, as core sees it. All calls throw Error; while the keeper is away they throw
// Error{unavailable, Fault::engine} after at most 5 s (it restarts within that).
class Keeper {
public:
    virtual ~Keeper() = default;

    virtual Task<KeeperFacts> info() = 0;
    virtual Task<NewBox> create(BoxOrder order) = 0;
    virtual Task<NewBox> attach(std::string id) = 0;
    virtual Task<std::vector<BoxFacts>> list() = 0;
    virtual Task<BoxUsage> kill(std::string id) = 0;             // not_found when it is gone already
    virtual Task<> set_frozen(std::string id, bool frozen) = 0;  // failed_precondition: a hold is not a pause
    virtual Task<BrakeFacts> pull_brake(BrakeOrder order) = 0;
    virtual Task<BrakeFacts> brakes() = 0;
    virtual Task<std::vector<BoxUsage>> usage(std::vector<std::string> ids) = 0;
    virtual Task<Fd> dial(std::string id,
                          std::uint16_t port) = 0;  // Error{unavailable, Fault::command}: nothing listens
    virtual Task<Fd> open_audit(std::string name, std::uint32_t segment) = 0;
    virtual Task<> drop_audit(std::string name, std::uint32_t segment) = 0;

    // Sandboxes on disk. What these acknowledge survives a power cut. With `memory` the agent must have been
    // quiesced, and the connection to it is over; Error{unimplemented} where the engine can't.
    virtual Task<SnapshotFacts> make_snapshot(std::string id, bool memory) = 0;  // which goes on as it was
    virtual Task<std::vector<SnapshotFacts>> snapshots() = 0;
    virtual Task<> remove_snapshot(std::string snapshot) = 0;
    virtual Task<BoxUsage> store(std::string id, bool memory) = 0;   // its processes end, its disk stays
    virtual Task<NewBox> wake(std::string id) = 0;                   // a stored one; another generation
    virtual Task<> reset(std::string id, std::string snapshot) = 0;  // a stored one; "": to its template

    // The packages among a sandbox's changed files. Error{exhausted} when too many are looked for at once.
    virtual Task<packages::Listing> find_packages(std::string id) = 0;

    virtual Task<std::vector<TemplateFacts>> templates() = 0;
    virtual Task<TemplateFacts> import_template(std::string name, std::string digest, Fd tar) = 0;
    virtual Task<TemplateFacts> export_template(std::string digest, Fd into) = 0;
    virtual Task<> remove_template(std::string digest) = 0;

    virtual void on_notice(std::function<void(KeeperNotice)> handler) = 0;
};

}  // namespace oyat::core
