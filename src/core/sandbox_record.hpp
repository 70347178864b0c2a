#pragma once

#include <boost/json/object.hpp>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "core/exposure.hpp"
#include "core/keeper.hpp"
#include "core/limits.hpp"
#include "core/principal.hpp"
#include "policy/policy.hpp"

namespace oyat::core {

enum class SandboxState { creating, running, pausing, paused, resuming, ending, ended };
enum class OnTimeout { kill, pause };
// Of a sandbox that is paused or copied: all that it is, or its files alone.
enum class Keep { memory, disk };
enum class ResumedFrom { nothing, memory, disk };
enum class EndedBy { none, timeout, idle, killed, oom, crash, limit, policy, server, oyat_operator, signal };

[[nodiscard]] std::string_view to_string(SandboxState state) noexcept;
[[nodiscard]] std::string_view to_string(EndedBy reason) noexcept;
[[nodiscard]] std::string_view to_string(Keep what) noexcept;
[[nodiscard]] std::string_view to_string(ResumedFrom what) noexcept;  // "" for nothing

// Everything about a sandbox that must survive a restart. Stored as JSON (to_json/from_json); tokens are
// stored too, since old handles of clients stay valid.
struct SandboxRecord {
    std::string id;
    std::string tenant;
    std::string template_name;  // as asked for, resolved to the digest once
    std::string template_digest;
    std::string engine;
    std::string boundary;
    std::string accelerator;  // of the engine, as the keeper has it
    bool emulated = false;    // the same
    std::string kernel;
    std::string disk_limit_by;
    std::uint64_t generation = 0;
    Limits limits;
    std::map<std::string, std::string> metadata;
    std::map<std::string, std::string> env;  // sandbox-wide variables of the client
    bool internet = true;
    std::string policy;                   // its own document as JSON; "" = none
    std::optional<policy::Via> via;       // the proxy that its connections go through, without its password
    std::string via_password;             // locked (SecretsControl::lock)
    std::uint64_t policy_generation = 1;  // counts every change of what is in force for it
    bool installing = false;              // an install window is open
    bool held = false;        // by the operator: paused, whatever clients ask. The keeper's to remember
    bool egress_off = false;  // by the operator, for this sandbox. The same
    bool stored = false;      // paused without being in memory. The keeper's to remember, as the next
    bool has_memory = false;  // stored with its processes
    ResumedFrom resumed_from = ResumedFrom::nothing;  // when it was resumed last
    std::string snapshot;                             // that it was made of; "": of its template alone
    std::string parent;                               // the sandbox that it is a copy of
    OnTimeout on_timeout = OnTimeout::kill;
    Keep pause_keeps = Keep::memory;  // of a pause at its time
    bool auto_resume = false;
    bool secure = true;
    std::string access_token;  // for the agent's door of protocols that have one
    Exposure exposure;         // of its other ports
    WallTime created{};
    WallTime started{};  // of the present run
    WallTime end_at{};
    Millis timeout{0};  // as last asked for
    SandboxState state = SandboxState::creating;
    EndedBy ended_by = EndedBy::none;
    std::string ended_detail;  // "process node (pid 212) was killed: memory limit 2 GiB"
    WallTime ended_at{};
    std::string key_id, client, protocol;  // who asked
    std::vector<Phase> phases;
    std::string created_event;  // id of sandbox.created
};

[[nodiscard]] boost::json::object to_json(const SandboxRecord& record);
[[nodiscard]] Result<SandboxRecord> sandbox_record_from_json(const boost::json::object& json);

}  // namespace oyat::core
