#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/admission.hpp"
#include "core/deadlines.hpp"
#include "core/ended_book.hpp"
#include "core/engines.hpp"
#include "core/live_sandbox.hpp"
#include "core/make_sandboxes.hpp"
#include "core/snapshot_book.hpp"
#include "io/task_group.hpp"
#include "io/timer.hpp"

namespace oyat::core {

// All sandboxes of the server: makes them, finds them, ends them when their time is up, and keeps what it
// knows in step with what the keeper has.
class Registry final : public SandboxService {
public:
    explicit Registry(SandboxesDeps deps);
    ~Registry() override;

    Task<std::shared_ptr<Sandbox>> create(CreateRequest request, Principal who) override;
    [[nodiscard]] std::shared_ptr<Sandbox> find(const std::string& id,
                                                const std::string& tenant) const override;
    [[nodiscard]] std::shared_ptr<Sandbox> find_any(const std::string& id) const override;
    [[nodiscard]] std::vector<std::shared_ptr<Sandbox>> every() const override;
    [[nodiscard]] std::vector<std::shared_ptr<Sandbox>> list(const ListFilter& filter) const override;
    [[nodiscard]] std::optional<SandboxRecord> ended(const std::string& id,
                                                     const std::string& tenant) const override;
    Task<> kill(std::string id, Principal who, EndedBy reason) override;
    Task<> set_timeout(std::string id, Millis timeout, TimeoutMode mode, Principal who) override;
    Task<> expose(std::string id, std::uint16_t port, Reach reach, Principal who) override;
    Task<> pause(std::string id, Keep what, Principal who) override;
    Task<bool> connect(std::string id, std::optional<Millis> timeout, Keep from, Principal who) override;
    Task<> bind_secrets(std::string id, SecretPlan plan, Principal who) override;
    Task<> unbind_secret(std::string id, std::string binding, Principal who) override;
    [[nodiscard]] PolicyPtr policy(const std::string& id, const std::string& tenant) const override;
    Task<PolicyChange> set_policy(std::string id, PolicyOrder order, Principal who) override;
    Task<PolicyChange> set_policy_above(policy::Layer layer, std::string key,
                                        std::optional<boost::json::object> document, Principal who) override;
    [[nodiscard]] std::vector<UsageSample> samples(const std::string& id,
                                                   const std::string& tenant) const override;

    Task<SnapshotRecord> make_snapshot(std::string sandbox, std::string name, Principal who) override;
    [[nodiscard]] std::vector<SnapshotRecord> snapshots(const SnapshotFilter& filter) const override;
    [[nodiscard]] SnapshotRecord snapshot(const std::string& reference,
                                          const std::string& tenant) const override;
    Task<> remove_snapshot(std::string reference, Principal who) override;
    Task<SnapshotRecord> retain_snapshot(std::string reference, Millis kept, Principal who) override;
    Task<std::vector<Fork>> fork(std::string sandbox, ForkOrder order, Principal who) override;
    Task<> reset(std::string sandbox, std::string reference, Principal who) override;

    Task<BrakeFacts> pull(BrakeOrder order, Principal who) override;
    Task<> put_down(std::string id, Principal who) override;
    void stop_creates_of(std::string key_id) override;
    [[nodiscard]] bool stopped() const override { return brakes_.stopped; }
    [[nodiscard]] bool egress_off() const override { return brakes_.egress_off; }

    Task<> recover() override;
    Task<> set_operator_policy(OperatorPolicy operators) override;
    Task<> end_all(EndedBy reason) override;
    Task<> close() override;

    // Ends or pauses those whose time is up by the clock; a timer calls it.
    void expire_due();
    // Looks through the sandboxes that may have got packages; a task calls it every few seconds.
    Task<> look_for_packages();
    // Warns of snapshots that are about to expire, and removes those that have; a task calls it now and then.
    Task<> tend_snapshots();
    // Takes one round of samples; a task calls it every few seconds.
    Task<> take_samples();

private:
    using Live = std::shared_ptr<LiveSandbox>;

    // What a sandbox is made of.
    struct Origin {
        std::string template_name;
        std::string template_digest;
        std::string engine;
        std::string snapshot;  // the keeper's id; "": a new one of the template
        bool memory = false;   // it has processes, too
        std::string parent;    // whose snapshot it is
        std::string policy;    // the document that it starts with, unless the request has one
        Limits limits;         // unless the request names others
    };

    // registry_create.cpp
    Task<Live> create_of(CreateRequest request, std::optional<Origin> origin, Principal who);
    Task<Live> make(CreateRequest request, std::optional<Origin> origin, Principal who);
    void check(const CreateRequest& request, const std::string& tenant) const;
    Task<> bring_up(Live sandbox, NewBox box, bool saved, std::string requested);
    Task<> open_record(Live sandbox, std::string requested);
    [[nodiscard]] SandboxRecord record_of(const CreateRequest& request, const Origin& origin,
                                          const policy::DocumentPtr& own, const Principal& who,
                                          const BoxFacts& facts) const;

    // registry_origin.cpp
    [[nodiscard]] static Origin origin_of(const SnapshotRecord& record);
    Task<Origin> origin_of(CreateRequest request, Principal who);
    [[nodiscard]] std::string engine_for(const CreateRequest& request, const Origin& origin) const;

    // registry_snapshots.cpp
    [[nodiscard]] const SnapshotRecord& known_snapshot(const std::string& reference,
                                                       const std::string& tenant) const;
    Task<> keep_snapshot(Live source, Principal who, SnapshotRecord& made);
    Task<> use_snapshot(std::string id, const SandboxRecord& by);
    Task<> drop_snapshot(std::string id, Event event);
    Task<> discard(std::string snapshot);
    [[nodiscard]] Event snapshot_event(const SnapshotRecord& record, std::string type, Witness by) const;
    Task<> recover_snapshots();
    Task<> keep_tending();

    // registry_forks.cpp
    Task<> fork_whole(Live source, ForkOrder order, Principal who, std::vector<Fork>& forks);
    [[nodiscard]] CreateRequest request_like(const SandboxRecord& record, Millis timeout) const;
    Task<> fork_some(const CreateRequest& request, const Origin& origin, const Principal& who,
                     std::vector<Fork>& forks, std::size_t& next);

    // registry_policy.cpp
    Task<std::size_t> renew_policies(std::function<bool(const SandboxRecord&)> concerned);

    // registry_keep.cpp: keeping in step with keeper and agents
    void heard(KeeperNotice notice);
    Task<> recover_one(SandboxRecord record, std::optional<BoxFacts> box);
    Task<> adopt(Live sandbox, bool frozen);
    Task<> rescue(Live sandbox, std::string why);
    Task<bool> found_on_disk(Live sandbox);
    Task<> verify();
    Task<> put_in_step(Live sandbox, BoxFacts box);
    Task<> end_strangers(const std::vector<BoxFacts>& boxes);
    Task<> keep_sampling();
    Task<> forget_surplus();
    [[nodiscard]] std::function<void(std::string)> rescuer_of(const Live& sandbox);

    // registry_brakes.cpp: what the keeper says of the operator's brakes is made true here
    Task<BrakeFacts> pull_whole(BrakeOrder order);
    Task<> heed();
    Task<> heed_quietly();
    void heed_egress();
    Task<> until_going(BrakeOrder order);
    Task<> finish_hold(Live sandbox);
    Task<> let_go(Live sandbox, bool stays_paused);
    [[nodiscard]] Ending gone(const SandboxRecord& record) const;
    Task<> put_down_as(Live sandbox, Ending ending);

    // registry_packages.cpp
    Task<> restore_packages();
    Task<> keep_looking();

    // registry_signals.cpp: what sandboxes are seen to do, and what the operator wants done about it
    void watch_events();
    Task<> act_on(std::string id, Signal signal);

    [[nodiscard]] Live live(const std::string& id, const std::string& tenant) const;
    Task<bool> end(Live sandbox, Ending ending);
    Task<> end_quietly(Live sandbox, Ending ending);
    Task<> expire(Live sandbox);
    [[nodiscard]] Pause pause_of(const SandboxRecord& record, Keep what) const;
    void keep_time(const LiveSandbox& sandbox);
    void arm();

    const SandboxesDeps deps_;
    Admission admission_;
    Engines engines_;
    SnapshotBook snapshots_;
    TextBudget texts_;
    std::map<std::string, Live> live_;
    EndedBook ended_;
    std::shared_ptr<Registry*> listening_ = std::make_shared<Registry*>(this);  // the bus outlives us
    bool recovered_ = false;
    BrakeFacts brakes_;                   // as the keeper said last
    bool egress_cut_pending_ = false;     // done here, and not known to be known to the keeper
    std::set<std::string> stopped_keys_;  // since the start; the store knows that they are revoked
    std::set<std::string> making_;        // owner tags of creates that are under way
    std::set<std::string> put_down_;      // whose agents are lost because we ended their boxes
    std::set<std::string> rescued_;       // whose agents are being joined again
    Deadlines deadlines_;
    Timer timer_;
    TaskGroup tasks_;
};

}  // namespace oyat::core
