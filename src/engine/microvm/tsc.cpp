#include "engine/microvm/tsc.hpp"

#include <time.h>
#include <x86intrin.h>

#include <algorithm>

namespace oyat::microvm {
namespace {

struct Reading {
    std::uint64_t nanos = 0;
    std::uint64_t ticks = 0;
};

std::uint64_t now() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC_RAW, &time);
    return (static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000) +
           static_cast<std::uint64_t>(time.tv_nsec);
}

// The best of a few: between the two reads of the clock nobody else should have run.
Reading read_both() {
    Reading best;
    std::uint64_t shortest = UINT64_MAX;
    for (int attempt = 0; attempt < 16; ++attempt) {
        const std::uint64_t before = now();
        const std::uint64_t ticks = __rdtsc();
        const std::uint64_t took = now() - before;
        if (took >= shortest) continue;
        shortest = took;
        best = {.nanos = before + (took / 2), .ticks = ticks};
    }
    return best;
}

}  // namespace

std::uint64_t measure_tsc_khz() {
    const Reading first = read_both();
    const timespec pause{.tv_sec = 0, .tv_nsec = 50'000'000};
    ::nanosleep(&pause, nullptr);
    const Reading last = read_both();
    return (last.ticks - first.ticks) * 1'000'000 / std::max<std::uint64_t>(1, last.nanos - first.nanos);
}

bool same_tsc_rate(std::uint64_t khz, std::uint64_t other) noexcept {
    return std::max(khz, other) - std::min(khz, other) <= khz / 1000;
}

}  // namespace oyat::microvm
