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
// (docs/internals/microvm.md has the sequence); its box holds its disk, `disk.img`. The control group of a
// sandbox needs kOverheadBytes and kOverheadThreads (machine.hpp) on top of the sandbox's own limits.
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

    [[nodiscard]] std::unique_ptr<engine::Work<engine::Process>> start(const engine::Parts& parts) override;
    // The machine takes a connection when it has lost the one before: whoever has that closes it first.
    [[nodiscard]] Fd connect_agent(const engine::Running& sandbox) override;
    [[nodiscard]] std::unique_ptr<engine::Work<engine::Nothing>> checkpoint(
        const engine::Running& sandbox, int into, Afterwards afterwards,
        std::function<void()> meanwhile) override;
    // Memory and processors are the machine's for life.
    void set_limits(const engine::Running& sandbox, const wire::BoxLimits& limits) override;
    void forget(std::string_view id) noexcept override;
    [[nodiscard]] std::vector<std::string> remembered() const override;

    // Removes what was made for the template's sandboxes to come. Those that live, and checkpoints of them,
    // do without it only as long as the template does not have to be read again.
    void template_gone(std::string_view digest) noexcept;

private:
    void take_in_survey() const;
    [[nodiscard]] Survey survey_for_start() const;

    Options options_;
    MemoryShelf shelf_;
    // Work in the background that info() looks after.
    mutable std::optional<Survey> survey_;
    mutable std::unique_ptr<engine::Work<std::string>> looking_;
    mutable std::string failed_;  // why the survey came to nothing
};

}  // namespace oyat::microvm
