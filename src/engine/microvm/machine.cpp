#include "engine/microvm/machine.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

#include "engine/microvm/tsc.hpp"
#include "netns/links.hpp"

namespace oyat::microvm {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kLeastMemoryMiB = 96;  // Debian's kernel does not boot with less
constexpr std::uint32_t kMostProcessors = 16;

Error mismatch(std::string_view what, const std::string& saved, const std::string& here) {
    return Error{Errc::failed_precondition, Fault::engine,
                 "the memory was saved with " + std::string{what} + " " + saved + ", here it is " + here};
}

// The same in each sandbox, as is its gateway's: restored elsewhere, the guest's neighbours are right.
std::string own_mac() {
    std::string text;
    for (const std::uint8_t byte : netns::kOwnMac) {
        std::array<char, 4> part{};
        std::snprintf(part.data(), part.size(), "%s%02x", text.empty() ? "" : ":", byte);
        text += part.data();
    }
    return text;
}

// The reasons for each are in docs/internals/microvm.md.
std::string kernel_words(const Machine& machine, const Wiring& wiring) {
    constexpr std::uint64_t kJiffies = 250;  // CONFIG_HZ of Debian's kernels
    std::string words =
        "panic=-1 reboot=t quiet tsc=reliable no_timer_check audit=0 rcupdate.rcu_expedited=1";
    words += " tsc_early_khz=" + std::to_string(machine.tsc_khz);
    words += " lpj=" + std::to_string(machine.tsc_khz * 1000 / kJiffies);
    if (machine.serial) words += " console=ttyS0";
    if (machine.accelerator == "tcg") words += " mitigations=off nokaslr";
    words += " oyat.generation=" + std::to_string(wiring.generation) + " oyat.id=" + wiring.id;
    return words;
}

}  // namespace

void set_size(Machine& machine, const wire::BoxLimits& limits) {
    machine.memory_mib = std::max(kLeastMemoryMiB, limits.memory_bytes / kMiB);
    machine.processors = std::clamp((limits.cpu_millis + 999) / 1000, 1U, kMostProcessors);
    // The rest is for what the store writes down about the file: with a full disk the guest should hear so
    // from its own file system.
    machine.disk_bytes = limits.disk_bytes / 16 * 15 / kMiB * kMiB;
    machine.disk_inodes = limits.disk_inodes;
}

Result<void> fits(const Machine& saved, const Machine& here) {
    if (saved.qemu != here.qemu) return std::unexpected{mismatch("QEMU", saved.qemu, here.qemu)};
    if (saved.accelerator != here.accelerator) {
        return std::unexpected{mismatch("the accelerator", saved.accelerator, here.accelerator)};
    }
    if (saved.guest != here.guest) return std::unexpected{mismatch("the kernel", saved.guest, here.guest)};
    if (saved.base != here.base)
        return std::unexpected{mismatch("the template's disk", saved.base, here.base)};
    if (saved.memory_mib != here.memory_mib) {
        return std::unexpected{
            mismatch("MiB of memory", std::to_string(saved.memory_mib), std::to_string(here.memory_mib))};
    }
    if (saved.processors != here.processors) {
        return std::unexpected{
            mismatch("processors", std::to_string(saved.processors), std::to_string(here.processors))};
    }
    if (saved.disk_bytes != here.disk_bytes) {
        return std::unexpected{
            mismatch("a disk of bytes", std::to_string(saved.disk_bytes), std::to_string(here.disk_bytes))};
    }
    if (!same_tsc_rate(saved.tsc_khz, here.tsc_khz)) {
        return std::unexpected{mismatch("a time stamp counter of kHz", std::to_string(saved.tsc_khz),
                                        std::to_string(here.tsc_khz))};
    }
    return {};
}

std::vector<std::string> command_line(const Machine& machine, const Wiring& wiring) {
    const std::string size = std::to_string(machine.memory_mib) + "M";
    // clang-format off
    std::vector<std::string> words{
        "qemu-system-x86_64",
        "-M", std::string{"microvm,memory-backend=ram,isa-serial="} + (machine.serial ? "on" : "off"),
        "-accel", machine.accelerator,
        "-cpu", machine.accelerator == "kvm" ? "host" : "max",
        "-m", size,
        "-smp", std::to_string(machine.processors),
        "-nodefaults", "-no-user-config", "-nographic", "-no-reboot",
        "-kernel", wiring.kernel,
        "-initrd", wiring.initrd,
        "-append", kernel_words(machine, wiring),
        "-object", wiring.memory.empty()
            ? "memory-backend-memfd,id=ram,size=" + size + ",share=off"
            : "memory-backend-file,id=ram,size=" + size + ",share=off,mem-path=" + wiring.memory,
        "-chardev", "socket,id=control,fd=" + std::to_string(wiring.control) + ",server=on,wait=off",
        "-mon", "chardev=control,mode=control",
        "-chardev", "socket,id=agent,fd=" + std::to_string(wiring.agent) + ",server=on,wait=off",
        "-device", "virtio-serial-device",
        "-device", "virtserialport,chardev=agent,name=oyat.agent",
        // Shared by all machines of its template, none of which may write to it.
        "-drive", "if=none,id=base,file=" + wiring.base + ",format=raw,readonly=on,file.locking=off",
        "-device", "virtio-blk-device,drive=base,serial=oyat-base",
        // A running sandbox does not outlive a power cut, so the guest need not wait for the disk; a
        // checkpoint syncs what it copies. The guest is told when there is no room, rather than stopped.
        "-drive", "if=none,id=upper,file=" + wiring.disk +
            ",format=raw,discard=unmap,cache=unsafe,file.locking=off,werror=report,rerror=report",
        "-device", "virtio-blk-device,drive=upper,serial=oyat-upper",
        "-object", "rng-builtin,id=rng",
        "-device", "virtio-rng-device,rng=rng",
        "-netdev", "tap,id=net,fd=" + std::to_string(wiring.tap),
        "-device", "virtio-net-device,netdev=net,mac=" + own_mac(),
        "-sandbox", "on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny",
    };
    // clang-format on
    if (machine.serial) {
        const std::string console =
            wiring.serial.empty() ? "null,id=console" : "file,id=console,append=on,path=" + wiring.serial;
        words.insert(words.end(), {"-chardev", console, "-serial", "chardev:console"});
    }
    if (!wiring.memory.empty()) words.insert(words.end(), {"-incoming", "defer"});
    return words;
}

}  // namespace oyat::microvm
