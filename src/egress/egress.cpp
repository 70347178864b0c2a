#include "egress/egress.hpp"

#include <map>

#include "egress/outlet.hpp"

namespace oyat::egress {
namespace {

using OutletMap = std::map<std::string, std::shared_ptr<Outlet>>;

Task<> bury(std::shared_ptr<Outlet> outlet) {
    co_await outlet->close();
}

Task<> bury_for_good(std::shared_ptr<Outlet> outlet, std::shared_ptr<Shared> shared, std::string sandbox) {
    co_await outlet->close();
    co_await shared->kept_pins.forget(std::move(sandbox));
}

// All at once, so that the store writes them together.
Task<> save_and_bury(std::shared_ptr<Outlet> outlet) {
    co_await outlet->close();
    if (outlet->has_unsaved_pins()) co_await outlet->save_pins();
}

// core tells of a pause by its event alone.
void follow_pauses(core::EventBus& events, std::weak_ptr<OutletMap> outlets) {
    events.listen([outlets = std::move(outlets)](const core::Event& event) {
        const bool paused = event.type == "sandbox.paused";
        if (!paused && event.type != "sandbox.resumed") return;
        const std::shared_ptr<OutletMap> all = outlets.lock();
        if (!all) return;
        const auto found = all->find(event.sandbox);
        if (found == all->end()) return;
        paused ? found->second->pause() : found->second->resume();
    });
}

class Outlets final : public Egress {
public:
    explicit Outlets(std::shared_ptr<Shared> shared)
        : shared_{std::move(shared)}, ending_{shared_->executor} {
        follow_pauses(shared_->events, outlets_);
    }
    ~Outlets() override {
        for (const auto& [sandbox, outlet] : *outlets_) outlet->cut();
    }

    void attach(std::string sandbox, std::string tenant, core::EgressSockets sockets,
                core::PolicyPtr policy) override {
        boost::json::array pins = shared_->kept_pins.take(sandbox);
        // After a restart of the keeper the listeners are new ones.
        if (const std::shared_ptr<Outlet> before = remove(sandbox)) {
            pins = before->pins();
            ending_.spawn(bury(before));
        }
        const auto outlet = std::make_shared<Outlet>(shared_, sandbox, std::move(tenant), std::move(sockets),
                                                     std::move(policy));
        outlet->take_over_pins(pins);
        outlet->open();
        outlets_->emplace(std::move(sandbox), outlet);
    }

    std::size_t update(const std::string& sandbox, core::PolicyPtr policy) override {
        const auto found = outlets_->find(sandbox);
        return found == outlets_->end() ? 0 : found->second->update(std::move(policy));
    }

    void detach(const std::string& sandbox) override {
        if (const std::shared_ptr<Outlet> outlet = remove(sandbox)) {
            ending_.spawn(bury_for_good(outlet, shared_, sandbox));
        }
    }

    core::Traffic traffic(const std::string& sandbox) const override {
        const auto found = outlets_->find(sandbox);
        return found == outlets_->end() ? core::Traffic{} : found->second->traffic();
    }

    std::size_t revoked(const std::string& tenant, const std::string& secret) override {
        std::size_t cut = 0;
        for (const auto& [sandbox, outlet] : *outlets_) {
            if (outlet->tenant() == tenant) cut += outlet->revoked(secret);
        }
        return cut;
    }

    std::string authority_pem(const std::string& tenant) override {
        return shared_->authorities.of(tenant).certificate_pem();
    }

    Task<> load() override { co_await shared_->kept_pins.load(); }
    Task<> forget_the_rest() override { co_await shared_->kept_pins.forget_untaken(); }

    // The sandboxes go on without us: what is kept for them stays.
    Task<> close() override {
        while (!outlets_->empty()) ending_.spawn(save_and_bury(remove(outlets_->begin()->first)));
        co_await ending_.wait_idle();
    }

private:
    // Cut; nothing when there is none.
    std::shared_ptr<Outlet> remove(const std::string& sandbox) {
        const auto found = outlets_->extract(sandbox);
        if (!found) return nullptr;
        found.mapped()->cut();
        return found.mapped();
    }

    std::shared_ptr<Shared> shared_;
    std::shared_ptr<OutletMap> outlets_ = std::make_shared<OutletMap>();
    TaskGroup ending_;
};

}  // namespace

std::vector<core::LimitFacts> limit_facts(const EgressLimits& limits) {
    const bool paced = limits.bytes_per_second > 0;
    return {{.name = "connections",
             .mechanism = "proxy",
             .hard = true,
             .default_value = limits.connections,
             .maximum = limits.connections},
            {.name = "bandwidth",
             .mechanism = paced ? "proxy" : "not enforced",
             .hard = paced,
             .default_value = limits.bytes_per_second,
             .maximum = limits.bytes_per_second}};
}

std::unique_ptr<Egress> make_egress(Executor executor, core::EventBus& events, const Clock& clock,
                                    core::Store& store, EgressConfig config) {
    return std::make_unique<Outlets>(
        std::make_shared<Shared>(std::move(executor), events, clock, store, std::move(config)));
}

}  // namespace oyat::egress
