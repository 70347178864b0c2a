#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "engine/common/agent_doors.hpp"
#include "engine/common/engine.hpp"
#include "engine/jail/cpu_shares.hpp"
#include "engine/jail/facts.hpp"
#include "engine/jail/jail.hpp"
#include "layers/staging.hpp"

namespace oyat::jail {

// Jails, as the keeper sees every engine. A start takes two milliseconds and is done when it is asked for;
// memory can't be written out.
class JailEngine final : public engine::Engine {
public:
    JailEngine(const Launcher& launcher, const layers::Staging& staging, const engine::AgentDoors& doors,
               std::string kernel);

    [[nodiscard]] wire::EngineInfo info() const override;
    [[nodiscard]] netns::Shape network() const noexcept override { return netns::Shape::loopback; }
    [[nodiscard]] std::unique_ptr<engine::Work<engine::Process>> start(const engine::Parts& parts) override;
    [[nodiscard]] Fd connect_agent(const engine::Running& sandbox) override;
    [[nodiscard]] std::unique_ptr<engine::Work<engine::Nothing>> checkpoint(
        const engine::Running& sandbox, int into, Afterwards afterwards,
        std::function<void()> meanwhile) override;
    void settle(const engine::Running& sandbox, const wire::BoxLimits& limits) override;
    void set_limits(const engine::Running& sandbox, const wire::BoxLimits& before,
                    const wire::BoxLimits& limits) override;
    void tell(const engine::Running& sandbox, const engine::Seen& seen, Told what) override;
    void forget(std::string_view id) noexcept override { launcher_.forget(id); }
    [[nodiscard]] std::vector<std::string> remembered() const override { return {}; }

private:
    const Launcher& launcher_;
    const layers::Staging& staging_;
    const engine::AgentDoors& doors_;
    std::string kernel_;
    Processors processors_;
    CpuShares cpus_;
};

}  // namespace oyat::jail
