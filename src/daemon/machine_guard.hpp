#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "base/clock.hpp"

namespace oyat::daemon {

// Memory and disk as the kernel counts them.
struct MachineFigures {
    std::uint64_t memory_total = 0, memory_available = 0;
    std::uint64_t disk_total = 0, disk_available = 0;
};
[[nodiscard]] MachineFigures measure_machine(const std::filesystem::path& state);

// Why this machine takes no more sandboxes, "" while it does: memory is promised by what is used, so the last
// tenth of it, and the last twentieth of the disk, are for those that run.
[[nodiscard]] std::string reason_to_refuse(const MachineFigures& figures);

// The same for every create, measured at most four times a second.
class MachineGuard {
public:
    MachineGuard(const Clock& clock, std::filesystem::path state) : clock_{clock}, state_{std::move(state)} {}
    [[nodiscard]] std::string operator()();

private:
    const Clock& clock_;
    std::filesystem::path state_;
    MonoTime measured_{};
    std::string reason_;
};

}  // namespace oyat::daemon
