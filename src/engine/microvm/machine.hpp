#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "wire/keeper_messages.hpp"

namespace oyat::microvm {

// What can be told apart from inside a machine, and therefore must be the same where its memory is to go on.
struct Machine {
    std::string qemu;         // "7.2.22 (Debian 1:7.2+dfsg-7+deb12u18+b3)"
    std::string accelerator;  // "kvm" or "tcg"
    std::string guest;        // digest of kernel and initrd
    std::string base;         // the read-only disk's name
    std::uint64_t memory_mib = 0;
    std::uint32_t processors = 1;
    std::uint64_t disk_bytes = 0;
    std::uint64_t disk_inodes = 0;
    std::uint64_t tsc_khz = 0;
    bool serial = false;  // with a console that its kernel speaks to

    bool operator==(const Machine&) const = default;
};

// The part that a sandbox's limits decide.
void set_size(Machine& machine, const wire::BoxLimits& limits);

// What QEMU needs beside the guest's memory: its code, buffers and what it has translated. Its threads: 64 at
// most for the disks, and its own.
inline constexpr std::uint64_t kOverheadBytes = std::uint64_t{256} << 20;
inline constexpr std::uint32_t kOverheadThreads = 80;

// Why a machine can't go on as this other one; nothing when it can.
[[nodiscard]] Result<void> fits(const Machine& saved, const Machine& here);

// manifest.json of a checkpoint. Reading takes nothing for granted: a snapshot may have been imported.
[[nodiscard]] std::string to_json(const Machine& machine);
[[nodiscard]] Result<Machine> machine_from_json(std::string_view json);

// Where a machine finds its parts: paths in its own file system, and descriptors by the number that it has
// them under.
struct Wiring {
    std::string kernel;
    std::string initrd;
    std::string base;
    std::string disk;
    std::string memory;  // of a saved machine; "" boots
    std::string serial;  // where the console goes; "" nowhere
    int control = -1;    // listening
    int agent = -1;      // listening
    int tap = -1;
    std::uint64_t generation = 0;
    std::string id;
};

// The memory's name in QEMU.
inline constexpr const char* kMemoryBlock = "ram";

[[nodiscard]] std::vector<std::string> command_line(const Machine& machine, const Wiring& wiring);

}  // namespace oyat::microvm
