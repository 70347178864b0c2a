#include "egress/egress.hpp"

#include <map>

#include "egress/outlet.hpp"

namespace oyat::egress {
namespace {

Task<> bury(std::shared_ptr<Outlet> outlet) {
    co_await outlet->close();
}

class Outlets final : public Egress {
public:
    explicit Outlets(std::shared_ptr<Shared> shared)
        : shared_{std::move(shared)}, ending_{shared_->executor} {}
    ~Outlets() override {
        for (const auto& [sandbox, outlet] : outlets_) outlet->cut();
    }

    void attach(std::string sandbox, std::string tenant, core::EgressSockets sockets,
                core::PolicyPtr policy) override {
        // After a restart of the keeper the listeners are new ones.
        detach(sandbox);
        const auto outlet = std::make_shared<Outlet>(shared_, sandbox, std::move(tenant), std::move(sockets),
                                                     std::move(policy));
        outlet->open();
        outlets_.emplace(std::move(sandbox), outlet);
    }

    std::size_t update(const std::string& sandbox, core::PolicyPtr policy) override {
        const auto found = outlets_.find(sandbox);
        return found == outlets_.end() ? 0 : found->second->update(std::move(policy));
    }

    void detach(const std::string& sandbox) override {
        const auto found = outlets_.find(sandbox);
        if (found == outlets_.end()) return;
        const std::shared_ptr<Outlet> outlet = std::move(found->second);
        outlets_.erase(found);
        outlet->cut();
        ending_.spawn(bury(outlet));
    }

    Task<> close() override {
        while (!outlets_.empty()) detach(std::string{outlets_.begin()->first});
        co_await ending_.wait_idle();
    }

private:
    std::shared_ptr<Shared> shared_;
    std::map<std::string, std::shared_ptr<Outlet>> outlets_;
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
                                    EgressConfig config) {
    return std::make_unique<Outlets>(
        std::make_shared<Shared>(std::move(executor), events, clock, std::move(config)));
}

}  // namespace oyat::egress
