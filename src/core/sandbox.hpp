#pragma once

#include <boost/json/object.hpp>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/files.hpp"
#include "core/package_book.hpp"
#include "core/policies.hpp"
#include "core/process.hpp"
#include "core/sandbox_record.hpp"
#include "core/secret_binding.hpp"

namespace oyat::core {

// What stands among the changed files of a sandbox.
struct SandboxPackages {
    std::vector<InstalledPackage> packages;
    bool complete = true;  // false: there was more than a look takes in
    std::size_t odd = 0;   // packages whose name or version is nothing that is shown
};

// One sandbox, looked at by several requests while it may be ending: hence shared_ptr, held by the registry
// and by running requests. All calls happen on its loop.
class Sandbox {
public:
    virtual ~Sandbox() = default;
    [[nodiscard]] virtual const SandboxRecord& record() const = 0;
    // Throw Error{failed_precondition} unless running (or resumed by waking()).
    [[nodiscard]] virtual Processes& processes() = 0;
    [[nodiscard]] virtual Files& files() = 0;
    // Sandbox-wide variables as processes get them, operator's included.
    [[nodiscard]] virtual std::map<std::string, std::string> environment() const = 0;
    // The fields that are set on its requests outside (the bindings of the group kHeaderRules).
    [[nodiscard]] virtual std::vector<SecretBinding> header_rules() const = 0;
    // Returns when the sandbox is no longer running (paused, killed, ended); to be raced against streams.
    virtual Task<> until_not_running() = 0;
    // Connects to a port inside. Error{unavailable, Fault::command} when nothing listens.
    virtual Task<Fd> dial(std::uint16_t port) = 0;
    virtual Task<BoxUsage> usage() = 0;
    // Looked for anew, whatever was known.
    virtual Task<SandboxPackages> packages() = 0;
};

struct CreateRequest {
    std::string template_ref = "base";  // name, name:tag or "sha256:..."; id or name of a snapshot
    Millis timeout{300'000};
    std::map<std::string, std::string> metadata;
    std::map<std::string, std::string> env;
    Limits limits;                              // zeros: defaults
    bool internet = true;                       // false: the preset "offline"
    std::optional<boost::json::object> policy;  // the sandbox's own document, beside what stands above it
    std::optional<policy::Via> via;             // the proxy that all its connections go through
    bool secure = true;  // false: the agent's door of protocols that have one asks for no token
    Reach usual_reach = Reach::anyone;  // of its ports
    std::string host_mask;              // Exposure::host_mask
    std::set<std::uint16_t> tls_ports;  // Exposure::tls_ports
    OnTimeout on_timeout = OnTimeout::kill;
    Keep pause_keeps = Keep::memory;  // of a pause at its time
    bool auto_resume = false;
    std::string isolation;  // "" = server default, "jail", "gvisor", "microvm", "auto"
    std::string minimum_boundary;
    SecretPlan secrets;  // what it may use without having it
};

struct ListFilter {
    std::string tenant;
    std::vector<SandboxState> states;             // empty: all that are not ended
    std::map<std::string, std::string> metadata;  // all must match
    std::string template_ref;
};

struct UsageSample {
    WallTime time{};
    BoxUsage usage;
    double cpu_percent = 0;  // of one CPU, since the sample before
};

// Another own document for a sandbox.
struct PolicyOrder {
    std::optional<boost::json::object> document;  // nothing: it has none any more
    std::optional<std::uint64_t>
        if_match;  // the generation that this was made for; another: failed_precondition
    enum class Proxy { keep, replace } proxy = Proxy::keep;
    std::optional<policy::Via> via;  // with Proxy::replace
    // In the place of the bindings of the group kHeaderRules; nothing: they stay.
    std::optional<std::vector<SecretBinding>> header_rules;
};

enum class TimeoutMode { replace, extend_only };

// All sandboxes of this server. `tenant` is who asks: a foreign id is the same not_found as an unknown one.
class Sandboxes {
public:
    virtual ~Sandboxes() = default;

    virtual Task<std::shared_ptr<Sandbox>> create(CreateRequest request, Principal who) = 0;
    // Running, paused or changing. Throws not_found.
    [[nodiscard]] virtual std::shared_ptr<Sandbox> find(const std::string& id,
                                                        const std::string& tenant) const = 0;
    // By id alone, for doors that prove themselves with a sandbox's own token. Null: none.
    [[nodiscard]] virtual std::shared_ptr<Sandbox> find_any(const std::string& id) const = 0;
    // All that live, whoever's: for the same doors, when a request names its sandbox only by what the token
    // signed.
    [[nodiscard]] virtual std::vector<std::shared_ptr<Sandbox>> every() const = 0;
    [[nodiscard]] virtual std::vector<std::shared_ptr<Sandbox>> list(const ListFilter& filter) const = 0;
    // The record of one that ended within the last day.
    [[nodiscard]] virtual std::optional<SandboxRecord> ended(const std::string& id,
                                                             const std::string& tenant) const = 0;

    virtual Task<> kill(std::string id, Principal who, EndedBy reason) = 0;
    virtual Task<> set_timeout(std::string id, Millis timeout, TimeoutMode mode, Principal who) = 0;
    // From now on; visitors that are inside already stay. Throws Error{exhausted} for too many ports.
    virtual Task<> expose(std::string id, std::uint16_t port, Reach reach, Principal who) = 0;
    // Throws failed_precondition when paused already.
    virtual Task<> pause(std::string id, Keep what, Principal who) = 0;
    // Running again when it returns; a running one only has its life extended. True when it had been paused.
    // Keep::disk: from its files alone, though its processes were kept.
    virtual Task<bool> connect(std::string id, std::optional<Millis> timeout, Keep from, Principal who) = 0;

    // More for a sandbox that exists: in force with its next request, in the environment of its next
    // commands.
    virtual Task<> bind_secrets(std::string id, SecretPlan plan, Principal who) = 0;
    virtual Task<> unbind_secret(std::string id, std::string binding, Principal who) = 0;

    // What is in force for a sandbox, all layers of it.
    [[nodiscard]] virtual PolicyPtr policy(const std::string& id, const std::string& tenant) const = 0;
    // In force, also for open connections, when it returns.
    virtual Task<PolicyChange> set_policy(std::string id, PolicyOrder order, Principal who) = 0;
    // The same for the document above the sandboxes of a tenant, or of a template by its digest.
    virtual Task<PolicyChange> set_policy_above(policy::Layer layer, std::string key,
                                                std::optional<boost::json::object> document,
                                                Principal who) = 0;

    // Samples about every 5 s, the last hour.
    [[nodiscard]] virtual std::vector<UsageSample> samples(const std::string& id,
                                                           const std::string& tenant) const = 0;
};

// The id when it is one of this tenant's sandboxes, living or ended lately; else "". For records of what was
// refused: nobody writes into the record of somebody else's sandbox.
[[nodiscard]] std::string own_sandbox(const Sandboxes& sandboxes, const std::string& id,
                                      const std::string& tenant);

}  // namespace oyat::core
