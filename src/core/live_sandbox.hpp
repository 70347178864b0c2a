#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "core/admission.hpp"
#include "core/agent_door.hpp"
#include "core/limit_watch.hpp"
#include "core/make_sandboxes.hpp"
#include "core/process_table.hpp"
#include "core/recorded_files.hpp"
#include "core/signals.hpp"
#include "core/usage_history.hpp"

namespace oyat::core {

// How a sandbox is to be paused.
struct Pause {
    Keep keeps = Keep::memory;
    bool on_disk = false;  // with its memory: leaves this machine's, where the engine can
};

// Why and how a sandbox is to end.
struct Ending {
    EndedBy reason = EndedBy::killed;
    std::string detail;
    std::optional<Principal> who;        // of a client that asked
    bool gone_already = false;           // the keeper has it no more
    std::optional<BoxUsage> last_usage;  // when it is gone
};

// One sandbox from the moment that its box exists. Its state is one variable, moved by one function; pause,
// resume and end may be called at any time and in any number, and wait for each other.
class LiveSandbox final : public Sandbox,
                          private InstallWatch,
                          public std::enable_shared_from_this<LiveSandbox> {
public:
    LiveSandbox(const SandboxesDeps& deps, Admission& admission, TextBudget& texts, SandboxRecord record);
    ~LiveSandbox() override;

    [[nodiscard]] const SandboxRecord& record() const override { return record_; }
    [[nodiscard]] Processes& processes() override;
    [[nodiscard]] Files& files() override;
    [[nodiscard]] std::map<std::string, std::string> environment() const override;
    [[nodiscard]] std::vector<SecretBinding> header_rules() const override;
    Task<> until_not_running() override;
    Task<Fd> dial(std::uint16_t port) override;
    Task<BoxUsage> usage() override;
    Task<SandboxPackages> packages() override;

    // --- for the registry: `lost` is called whenever its agent is lost, by no fault of ours.
    void on_lost(std::function<void(std::string)> lost) { lost_ = std::move(lost); }
    // Network first, so that its policy holds before the agent is spoken to; returns with the agent's
    // descriptor taken.
    void take_handles(BoxHandles handles);
    // Before take_handles(): what it may use without having it, with the placeholders in its environment.
    Task<> take_secrets(SecretPlan plan, Principal who);
    Task<> bind_secrets(SecretPlan plan, Principal who);
    Task<> replace_header_rules(std::vector<SecretBinding> rules, Principal who);
    Task<> unbind_secret(std::string binding, Principal who);
    // What is in force for its way out.
    [[nodiscard]] const PolicyPtr& policy() const { return policy_; }
    // Its own document in another's place; null takes it away. See Sandboxes::set_policy.
    Task<PolicyChange> change_policy(policy::DocumentPtr document, PolicyOrder order, Principal who);
    // What stands above it, or what documents are read with, has changed. Returns how many connections were
    // cut.
    std::size_t renew_policy();
    // What stands above it has changed since it was put together.
    [[nodiscard]] bool policy_is_stale() const { return policy_of_ != deps_.policies.revision(); }

    // Before take_handles(): its memory is another's, or one of before.
    void note_saved() { quiesced_ = true; }
    // Hears the agent's hello, sets it up and takes up its processes, of which a new sandbox has none;
    // afterwards calls into the sandbox go through.
    enum class Agent { new_born, known };
    Task<> greet(Agent agent);
    // After a change: when connections may be read now, programs inside are made to trust the authority that
    // this takes. Commands that run keep their variables. A paused sandbox follows when it is resumed. Where
    // that fails, the policy is in force all the same, and programs refuse what they are shown; it is logged.
    Task<> follow_policy();
    [[nodiscard]] bool agent_broke_protocol() const { return agent_ && agent_->broke_protocol(); }
    [[nodiscard]] bool has_agent() const { return door_->is_open(); }
    // Forgets a lost agent; calls fail until the next greeting.
    Task<> drop_agent(std::string why);

    // The first state of a sandbox that was just made or found.
    void begin(SandboxState state) { move_to(state); }
    // Returns when no change is under way.
    Task<> settle();
    // Without `who`: at its time. Then a copy that is being made is waited for; a client is refused.
    Task<> pause(Pause how, std::optional<Principal> who);
    // True when this call resumed it; false when it was found running. Throws for one that ends. Keep::disk
    // starts one anew from its files, whatever the pause kept.
    Task<bool> resume(std::optional<Millis> timeout, Keep from, std::optional<Principal> who);
    void note_stored(bool stored, bool has_memory);
    // The keeper has it on disk, without our having heard that it got there.
    Task<> found_stored(bool has_memory);
    // A snapshot of it as it runs or sleeps. It goes on as it was.
    Task<SnapshotFacts> copy(Keep what);
    // Back to a snapshot, or ("") to its template; running afterwards.
    Task<> reset(std::string snapshot, Principal who);
    // The operator's brakes, which the keeper has pulled or let go already (registry_brakes.cpp). Held, it is
    // paused whatever was under way; let go, it runs unless its clients had paused it.
    void note_hold();
    Task<> finish_hold();  // when a change was under way
    Task<> note_release(bool stays_paused);
    void require_no_hold() const;
    void set_egress(bool off_here, bool off_for_all);  // before it has its network
    void note_egress(bool off_here, bool off_for_all);
    // True when this call ended it, false when another did. On an Error it stays `ending`, to be tried again.
    Task<bool> end(Ending ending);
    // Lets go without ending it, for a restart of oyatd.
    Task<> close();
    // Undoes a create that failed half-way.
    Task<> undo_create();

    // Life from now on, within what the operator allows for one run.
    void set_life(Millis timeout, TimeoutMode mode);
    // Life that was left when oyatd stopped, in the run that began before.
    void restore_life();
    [[nodiscard]] MonoTime deadline() const { return deadline_; }
    void expose(std::uint16_t port, Reach reach);
    void set_phases(std::vector<Phase> phases) { record_.phases = std::move(phases); }
    void set_created_event(std::string id) { record_.created_event = std::move(id); }
    Task<> save();

    // Packages that came into it (sandbox_packages.cpp).
    void hear_traffic(const Event& event);
    [[nodiscard]] bool packages_are_due() const;
    Task<> look_for_packages();
    void restore_packages(std::string_view stored) { packages_.restore(stored); }

    [[nodiscard]] LimitWatch& limits() { return limits_; }
    // What it did lately, for signals. A sample may raise one.
    [[nodiscard]] Suspicion& suspicion() { return suspicion_; }
    [[nodiscard]] std::optional<Signal> sample(const BoxUsage& usage);
    [[nodiscard]] std::vector<UsageSample> samples() const { return history_.samples(); }

private:
    void require_running() const;
    void stand_still();
    Task<> put_on_disk(Keep what);
    Task<> quiesce();
    Task<> join_again();
    Task<> wake_up();
    Task<> fall_asleep_again();
    Task<> undo_pause(const Error& why);
    Task<> go_on(std::optional<Millis> life, ResumedFrom from);
    void move_to(SandboxState next);
    Task<> finish_end(Ending ending);
    Task<> let_go_of_secrets();
    Task<> configure(std::shared_ptr<AgentChannel> agent);
    Task<> trust_authority(std::shared_ptr<AgentChannel> agent);
    Task<> try_to_trust(std::shared_ptr<AgentChannel> agent);  // logs what is in the way
    Event ended_event(const Ending& ending) const;
    [[nodiscard]] PolicyPtr compose_policy() const;

    // What it installs (sandbox_installs.cpp).
    Task<> command_starts(std::string command, std::vector<std::string> argv) override;
    void command_found(const std::string& command, const std::vector<std::string>& argv) override;
    void command_ended(const std::string& command) override;
    void settle_installs();
    void close_install_window();
    void note_install_window(bool was_open, std::size_t cut);
    void suspend_secrets();
    Task<> record_packages(const PackageBook::Change& change);
    Task<> look_in_turn();
    Task<> take_last_look(EndedBy reason);
    Task<> forget_packages();

    const SandboxesDeps& deps_;
    SandboxRecord record_;
    bool egress_off_for_all_ = false;
    std::map<std::string, std::string_view> installing_;  // commands by their ids, and what they install with
    policy::DocumentPtr own_policy_;                      // read from the record; null: none
    PolicyPtr policy_;
    std::uint64_t policy_of_;  // the revision of what stands above that `policy_` was put together from
    MonoTime run_since_;
    MonoTime deadline_{};
    Condition changed_;
    std::function<void(std::string)> lost_;
    bool end_under_way_ = false;
    bool copying_ = false;
    bool quiesced_ = false;  // programs stand still until its agent is told of its new life
    bool greeting_ = false;
    bool looking_ = false;      // for packages
    std::string trusted_list_;  // of authorities, the tenant's among them; "": connections are not read

    std::shared_ptr<AgentDoor> door_ = std::make_shared<AgentDoor>();  // shared with processes and files
    std::shared_ptr<AgentChannel> agent_;                              // shared with calls that are under way
    LimitWatch limits_;
    Suspicion suspicion_;
    UsageHistory history_;
    PackageTrail trail_;
    PackageBook packages_;
    ProcessTable processes_;
    RecordedFiles files_;
};

}  // namespace oyat::core
