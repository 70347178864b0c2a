#pragma once

#include <time.h>

#include <cstdint>

namespace oyat::agent {

// The time that one step of a long job may take before everybody else has a turn.
class Slice {
public:
    static constexpr std::int64_t kNanos = 1'000'000;

    [[nodiscard]] bool left() const { return now() < until_; }

private:
    static std::int64_t now() {
        timespec time{};
        ::clock_gettime(CLOCK_MONOTONIC, &time);
        return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
    }

    std::int64_t until_ = now() + kNanos;
};

}  // namespace oyat::agent
