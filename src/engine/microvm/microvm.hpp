#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/common/engine.hpp"
#include "engine/microvm/machine.hpp"
#include "engine/microvm/memory_file.hpp"
#include "engine/microvm/places.hpp"
#include "engine/microvm/survey.hpp"

namespace oyat::microvm {

// Sandboxes as virtual machines. A sandbox starts as a copy of a machine that was booted and saved once
// (docs/internals/microvm.md has the sequence); its box holds its disk, `disk.img`.
class Microvm final : public engine::Engine {
public:
    struct Options {
        Places places;
        Accelerator accelerator = Accelerator::automatic;
    };
    // Looks around in the background; until that is done, KVM is not used.
    explicit Microvm(Options options);
    ~Microvm() override;

    [[nodiscard]] wire::EngineInfo info() const override;
    [[nodiscard]] netns::Shape network() const noexcept override { return netns::Shape::tap; }

    [[nodiscard]] Overhead overhead() const noexcept override {
        return {.memory_bytes = kOverheadBytes, .processes = kOverheadThreads};
    }
    [[nodiscard]] std::unique_ptr<engine::Work<engine::Process>> start(const engine::Parts& parts) override;
    // The machine takes a connection when it has lost the one before: whoever has that closes it first.
    [[nodiscard]] Fd connect_agent(const engine::Running& sandbox) override;
    [[nodiscard]] std::unique_ptr<engine::Work<engine::Nothing>> checkpoint(
        const engine::Running& sandbox, int into, Afterwards afterwards,
        std::function<void()> meanwhile) override;
    // The control group says how much of the host's processors it gets, wherever they are.
    void settle(const engine::Running&, const wire::BoxLimits&) override {}
    // Memory, processors and disk are the machine's for life.
    void set_limits(const engine::Running& sandbox, const wire::BoxLimits& before,
                    const wire::BoxLimits& limits) override;
    // Its own kernel tells them.
    void tell(const engine::Running&, const engine::Seen&, Told) override {}
    // It may stand still for a checkpoint that will never be finished.
    void adopted(const engine::Running& sandbox) noexcept override;
    void forget(std::string_view id) noexcept override;
    [[nodiscard]] std::vector<std::string> remembered() const override;

    // Removes what was made for the template's sandboxes to come. Those that live, and checkpoints of them,
    // do without it only as long as the template does not have to be read again.
    void template_gone(std::string_view digest) noexcept override;

private:
    void take_in_survey() const;

    Options options_;
    MemoryShelf shelf_;
    // Work in the background that info() looks after.
    mutable std::optional<Survey> survey_;
    mutable std::unique_ptr<engine::Work<std::string>> looking_;
    mutable std::string failed_;  // why the survey came to nothing
};

}  // namespace oyat::microvm
