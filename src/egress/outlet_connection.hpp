#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "egress/outlet.hpp"
#include "io/gate.hpp"

// For the parts of Outlet alone.
namespace oyat::egress {

// One connection of the sandbox, from its admission to its end. Counted as long as it exists.
struct Outlet::Connection {
    Connection(Outlet& owner, Destination destination, std::string_view reached_by)
        : outlet{owner},
          to{destination},
          reach{reached_by},
          opened{owner.shared_->clock.mono()},
          pinned{owner.pins_, destination.address, opened} {
        ++outlet.shared_->connections;
        outlet.connections_.insert(this);
    }
    ~Connection() {
        for (const Counted& counted : counted_) outlet.budgets_.close(counted.rule);
        --outlet.shared_->connections;
        outlet.connections_.erase(this);
    }
    Connection(const Connection&) = delete;
    Connection& operator=(const Connection&) = delete;

    [[nodiscard]] bool is_read() const {
        return passage.way == Passage::Way::read_http || passage.way == Passage::Way::read_tls;
    }
    [[nodiscard]] bool still_passes() const {
        return outlet.judge_.still_passes(passage) && (!reading || reading->still_passes());
    }
    void cut() const noexcept {
        if (relay) relay->cut();
        if (reading) reading->cut();
    }
    [[nodiscard]] std::uint64_t up() const {
        return relay ? relay->up() : reading ? reading->meter().up() : 0;
    }
    [[nodiscard]] std::uint64_t down() const {
        return relay ? relay->down() : reading ? reading->meter().down() : 0;
    }
    [[nodiscard]] bool was_idle() const {
        return (relay && relay->was_idle()) || (reading && reading->meter().was_idle());
    }

    // Whether the budgets of the sandbox and of the rule allow it, or one more request on it.
    [[nodiscard]] bool admit(const core::PolicyPtr& policy, const policy::Rule* rule) {
        const MonoTime now = outlet.shared_->clock.mono();
        const bool known = std::ranges::any_of(counted_, [&](const Counted& counted) {
            return counted.rule == rule ||
                   (rule != nullptr && counted.rule != nullptr && counted.rule->id == rule->id);
        });
        if (!(known ? outlet.budgets_.request(rule, now) : outlet.budgets_.open(rule, now))) return false;
        if (!known) counted_.push_back({policy, rule});
        payer_ = {policy, rule};
        return true;
    }
    // After bytes have passed, on account of whoever was admitted last: how long to wait before the next.
    [[nodiscard]] std::chrono::nanoseconds pay(Budgets::Direction direction, std::uint64_t bytes) {
        return std::max(outlet.pace_.after(bytes, outlet.shared_->clock.mono()), spend(direction, bytes));
    }
    std::chrono::nanoseconds spend(Budgets::Direction direction, std::uint64_t bytes) {
        core::Traffic& traffic = outlet.traffic_;
        (direction == Budgets::Direction::up ? traffic.up : traffic.down) += bytes;
        return outlet.budgets_.spend(payer_.rule, direction, bytes, outlet.shared_->clock.mono());
    }

    [[nodiscard]] boost::json::object fields() const {
        // Of what is read no rule has decided yet: each request has its own.
        boost::json::object fields{{"addr", to.address.to_string()},
                                   {"port", to.port},
                                   {"rule", is_read() ? "each-request" : passage.decision.rule}};
        if (!passage.host.empty()) fields["host"] = passage.host;
        if (!passage.policy) return fields;
        fields["reach"] = reach;
        fields["layer"] = policy::to_string(passage.decision.layer);
        fields["strength"] = policy::to_string(passage.attempt.strength);
        fields["generation"] = passage.policy->generation;
        if (!passage.decision.category.empty()) fields["category"] = passage.decision.category;
        return fields;
    }

    Outlet& outlet;
    Destination to;
    std::string_view reach;  // why its address may be reached at all
    MonoTime opened;
    Pins::Hold pinned;
    Passage passage;                        // without a policy while it is judged
    std::unique_ptr<Interception> reading;  // null unless its requests are judged one by one
    std::unique_ptr<Relay> relay;           // null until bytes may pass
    Gate over;                              // opens when it is cut before that
    bool end_reported = false;

private:
    struct Counted {
        core::PolicyPtr policy;  // keeps the rule alive
        const policy::Rule* rule = nullptr;
    };
    std::vector<Counted> counted_;
    Counted payer_;
};

}  // namespace oyat::egress
