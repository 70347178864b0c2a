#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/clock.hpp"
#include "core/agent_channel.hpp"
#include "core/brakes.hpp"
#include "core/egress_control.hpp"
#include "core/event.hpp"
#include "core/keeper.hpp"
#include "core/policies.hpp"
#include "core/sandbox.hpp"
#include "core/secrets_control.hpp"
#include "core/signals.hpp"
#include "core/snapshot_book.hpp"
#include "core/store.hpp"
#include "core/templates.hpp"

namespace oyat::core {

class Masks;

// What the operator decides. The defaults are those of the documentation.
struct SandboxesConfig {
    Limits default_limits = kDefaultLimits;
    std::string default_engine;    // "" = the first that there is, from weak to strong
    std::string minimum_boundary;  // of every sandbox; "" = any
    bool allow_emulated = false;   // IsolationWish
    std::string default_user = "user";
    std::string default_cwd;              // "" = the acting user's home
    std::string metadata_space = "oyat";  // files' metadata are extended attributes user.SPACE.KEY
    // Operator variables of every sandbox (SSL_CERT_FILE, PIP_INDEX_URL, ...); a client's own win over them.
    std::map<std::string, std::string> operator_env;

    Millis max_life = std::chrono::hours{24 * 30};      // of one run: from create or resume
    Millis min_resumed_life = std::chrono::minutes{5};  // of a resume that names no time
    Millis hello_limit = std::chrono::seconds{10};      // for an agent to say who it is
    Millis sample_every = std::chrono::seconds{5};

    // Admission (architecture, ruling 21).
    std::uint32_t max_sandboxes = 2'000;     // of each tenant
    std::uint32_t creates_per_second = 200;  // with each key
    std::uint32_t create_burst = 500;
    std::uint32_t starts_per_second = 1'000;  // of commands, with each key
    std::uint32_t start_burst = 2'000;
    SnapshotRules snapshots;
    SignalRules signals;
    Reach preview_most = Reach::anyone;  // how wide a port of a sandbox may be opened
    // Of one sandbox.
    std::uint32_t max_commands = 256;
    std::uint32_t max_ptys = 32;

    // Asked before each create: why the machine as a whole takes no more, "" while it does. May be empty.
    std::function<std::string()> machine_full;
};

// Everything that sandboxes are made of. All must outlive the Sandboxes.
struct SandboxesDeps {
    Executor executor;
    const Clock& clock;
    Keeper& keeper;
    AgentConnector& connector;
    EgressControl& egress;
    Store& store;
    EventBus& events;
    Masks& masks;
    Templates& templates;
    Policies& policies;
    SandboxesConfig config;
    SecretsControl* secrets = nullptr;  // null: plans with secrets are refused
};

// The sandboxes of this server, as the daemon owns them.
class SandboxService : public Sandboxes, public Snapshots, public Brakes {
public:
    // Once, before the first request: joins what lives, ends what died meanwhile, finishes what was half
    // done.
    virtual Task<> recover() = 0;
    // The operator's part has changed: in force for every sandbox when it returns.
    virtual Task<> set_operator_policy(OperatorPolicy operators) = 0;
    // Kills every sandbox: for a server that was started to leave nothing behind.
    virtual Task<> end_all(EndedBy reason) = 0;
    // Lets go of all sandboxes without ending them, for a restart of oyatd. No calls afterwards.
    virtual Task<> close() = 0;
};

[[nodiscard]] std::unique_ptr<SandboxService> make_sandboxes(SandboxesDeps deps);

}  // namespace oyat::core
