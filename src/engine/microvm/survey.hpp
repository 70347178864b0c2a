#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "engine/microvm/places.hpp"

namespace oyat::microvm {

enum class Accelerator : std::uint8_t { automatic, kvm, tcg };

// What this host's machines are like.
struct Survey {
    std::string qemu;         // version
    std::string guest;        // digest of kernel and initrd
    std::string release;      // of that kernel
    std::string accelerator;  // "kvm" or "tcg"
    std::string why_not_kvm;  // "" with kvm
    std::uint64_t tsc_khz = 0;
};

// Why there can be no machine here: a program or the kernel is missing. "" when all is there.
[[nodiscard]] std::string what_is_missing(const Places& places);

// Takes a survey, but for the accelerator: half a second when the kernel has to be unpacked first. For a
// child process.
[[nodiscard]] Survey look_around(const Places& places);

// Whether KVM really works: boots the kernel with it until the agent speaks, which takes five seconds where
// it does not. That /dev/kvm exists says nothing: emulated nested KVM hangs. Sets accelerator and
// why_not_kvm. For a child process.
void choose_accelerator(const Places& places, Accelerator wanted, Survey& survey);

// The last survey, kept over restarts of the keeper; nothing when it was of another boot, kernel, agent, QEMU
// or wish.
[[nodiscard]] std::optional<Survey> kept_survey(const Places& places, Accelerator wanted);
void keep_survey(const Places& places, Accelerator wanted, const Survey& survey);

}  // namespace oyat::microvm
