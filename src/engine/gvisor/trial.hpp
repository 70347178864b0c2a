#pragma once

#include <memory>
#include <optional>
#include <string>

#include "engine/common/work.hpp"
#include "engine/gvisor/homes.hpp"
#include "engine/gvisor/runsc.hpp"

namespace oyat::gvisor {

// Whether sandboxes work on this machine, found out by having one, beside the keeper's loop: of this host's
// own /usr, without an agent. It lists files, runs Python if there is one, connects to the outside, is
// written to disk and goes on from there. What claims to work and fails at that would fail every sandbox.
class Trial {
public:
    // `dir`: for the sandbox's home.
    Trial(std::string runsc, const std::string& dir);
    // Waits for its end, so that nothing of it is left.
    ~Trial();
    Trial(const Trial&) = delete;
    Trial& operator=(const Trial&) = delete;

    // How gVisor works here; nothing while that is unknown, and when it does not.
    [[nodiscard]] std::optional<Platform> platform();
    // Why it does not, or that the trial goes on.
    [[nodiscard]] const std::string& reason() const noexcept { return reason_; }
    [[nodiscard]] const std::string& version() const noexcept { return version_; }

private:
    void begin();

    std::string runsc_;
    Homes homes_;
    std::string reason_ = "it is being tried out";
    std::string version_;
    std::optional<Platform> platform_;
    std::unique_ptr<engine::Work<std::string>> work_;
};

}  // namespace oyat::gvisor
