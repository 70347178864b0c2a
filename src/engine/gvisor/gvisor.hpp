#pragma once

#include <memory>
#include <string>
#include <vector>

#include "engine/common/engine.hpp"
#include "engine/gvisor/doors.hpp"
#include "engine/gvisor/homes.hpp"
#include "engine/gvisor/runsc.hpp"
#include "engine/gvisor/trial.hpp"
#include "layers/staging.hpp"

namespace oyat::gvisor {

// Sandboxes whose kernel is gVisor's: a process of this host, without rights here, that answers the system
// calls of the programs inside and passes on few of its own. The process that a sandbox ends with is that
// kernel. Its disk is the host's overlay like a jail's, its network a stack of its own on a veth.
class Gvisor final : public engine::Engine {
public:
    struct Settings {
        std::string runsc;  // the program
        std::string agent;  // a static executable
        std::string dir;    // for what must outlive the keeper, below its run directory
    };

    Gvisor(Settings settings, const layers::Staging& staging);

    [[nodiscard]] wire::EngineInfo info() const override;
    [[nodiscard]] netns::Shape network() const noexcept override { return netns::Shape::veth; }
    // gVisor's kernel and the process that serves it files; and the threads of both, since each counts.
    [[nodiscard]] Overhead overhead() const noexcept override {
        return {.memory_bytes = 96 << 20, .processes = 128};
    }
    [[nodiscard]] std::unique_ptr<engine::Work<engine::Process>> start(const engine::Parts& parts) override;
    [[nodiscard]] Fd connect_agent(const engine::Running& sandbox) override {
        return doors_.answer(sandbox.id);
    }
    [[nodiscard]] std::unique_ptr<engine::Work<engine::Nothing>> checkpoint(
        const engine::Running& sandbox, int into, Afterwards afterwards,
        std::function<void()> meanwhile) override;
    // Its control group and disk are all that limits it, and its kernel tells programs of the machine itself.
    void settle(const engine::Running&, const wire::BoxLimits&) override {}
    void set_limits(const engine::Running&, const wire::BoxLimits&, const wire::BoxLimits&) override {}
    void tell(const engine::Running&, const engine::Seen&, Told) override {}
    [[nodiscard]] pid_t in_network(const engine::Running& sandbox) const override;
    void forget(std::string_view id) noexcept override;
    [[nodiscard]] std::vector<std::string> remembered() const override { return homes_.ids(); }

private:
    // As it works here; throws why it does not.
    [[nodiscard]] Runsc runsc() const;

    std::string path_;
    const layers::Staging& staging_;
    Fd agent_;
    mutable Trial trial_;  // looked at by whoever asks
    Homes homes_;
    Doors doors_;
};

}  // namespace oyat::gvisor
