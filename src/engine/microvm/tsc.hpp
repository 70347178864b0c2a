#pragma once

#include <cstdint>

namespace oyat::microvm {

// How fast the processor's time stamp counter runs, in kHz. The machine `microvm` has no timer that a guest
// could measure it by: on a busy host such a guest hangs early in its boot, for good, unless it is told.
// Takes 50 ms.
[[nodiscard]] std::uint64_t measure_tsc_khz();

// Whether a guest that counts by one rate can go on with the other: a tenth of a percent is 86 s a day.
[[nodiscard]] bool same_tsc_rate(std::uint64_t khz, std::uint64_t other) noexcept;

}  // namespace oyat::microvm
