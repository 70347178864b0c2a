#include "daemon/machine_guard.hpp"

#include <sys/statvfs.h>

#include <fstream>

namespace oyat::daemon {

MachineFigures measure_machine(const std::filesystem::path& state) {
    MachineFigures figures;
    std::ifstream meminfo{"/proc/meminfo"};
    std::string name;
    std::string unit;
    for (std::uint64_t kib = 0; meminfo >> name >> kib; std::getline(meminfo, unit)) {
        if (name == "MemTotal:") figures.memory_total = kib << 10;
        if (name == "MemAvailable:") figures.memory_available = kib << 10;
    }
    struct statvfs facts{};
    if (::statvfs(state.c_str(), &facts) == 0) {
        figures.disk_total = facts.f_blocks * facts.f_frsize;
        figures.disk_available = facts.f_bavail * facts.f_frsize;
    }
    return figures;
}

std::string reason_to_refuse(const MachineFigures& figures) {
    if (figures.memory_available < figures.memory_total / 10) {
        return "the machine has less than a tenth of its memory left";
    }
    if (figures.disk_available < figures.disk_total / 20) {
        return "the machine has less than a twentieth of its disk left";
    }
    return {};
}

std::string MachineGuard::operator()() {
    const MonoTime now = clock_.mono();
    if (measured_ == MonoTime{} || now - measured_ >= Millis{250}) {
        measured_ = now;
        reason_ = reason_to_refuse(measure_machine(state_));
    }
    return reason_;
}

}  // namespace oyat::daemon
