#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/admission.hpp"
#include "core/deadlines.hpp"
#include "core/ended_book.hpp"
#include "core/live_sandbox.hpp"
#include "core/make_sandboxes.hpp"
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
    Task<> pause(std::string id, Principal who) override;
    Task<bool> connect(std::string id, std::optional<Millis> timeout, Principal who) override;
    Task<> bind_secrets(std::string id, SecretPlan plan, Principal who) override;
    Task<> unbind_secret(std::string id, std::string binding, Principal who) override;
    [[nodiscard]] PolicyPtr policy(const std::string& id, const std::string& tenant) const override;
    Task<PolicyChange> set_policy(std::string id, PolicyOrder order, Principal who) override;
    Task<PolicyChange> set_policy_above(policy::Layer layer, std::string key,
                                        std::optional<boost::json::object> document, Principal who) override;
    [[nodiscard]] std::vector<UsageSample> samples(const std::string& id,
                                                   const std::string& tenant) const override;

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
    // Takes one round of samples; a task calls it every few seconds.
    Task<> take_samples();

private:
    using Live = std::shared_ptr<LiveSandbox>;

    // registry_create.cpp
    Task<Live> make(CreateRequest request, Principal who);
    void check(const CreateRequest& request, const std::string& tenant) const;
    Task<> bring_up(Live sandbox, NewBox box, std::string requested);
    Task<> open_record(Live sandbox, std::string requested);
    [[nodiscard]] SandboxRecord record_of(const CreateRequest& request, const policy::DocumentPtr& own,
                                          const Principal& who, const BoxFacts& facts) const;

    // registry_policy.cpp
    Task<std::size_t> renew_policies(std::function<bool(const SandboxRecord&)> concerned);

    // registry_keep.cpp: keeping in step with keeper and agents
    void heard(KeeperNotice notice);
    Task<> recover_one(SandboxRecord record, std::optional<BoxFacts> box);
    Task<> adopt(Live sandbox, bool frozen);
    Task<> rescue(Live sandbox, std::string why);
    Task<> verify();
    Task<> freeze_again(Live sandbox);
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
    void keep_time(const LiveSandbox& sandbox);
    void arm();

    const SandboxesDeps deps_;
    Admission admission_;
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
