#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/clock.hpp"

namespace oyat::audit {

// Kinds of which a busy program makes thousands that all say the same. Nothing else is ever left out of the
// record: not what was refused, not commands, not the life of sandboxes (threats X-08).
[[nodiscard]] inline bool is_noise(std::string_view type) {
    constexpr std::string_view kNoise[] = {"connect.allowed", "connect.closed", "dns.query", "ingress.visit"};
    return std::ranges::find(kNoise, type) != std::end(kNoise);
}

// How much noise one sandbox may write: 200 events a second, 2,000 at once. The rest is counted.
class NoiseLimit {
public:
    [[nodiscard]] bool admit(MonoTime now) {
        if (last_ != MonoTime{}) {
            const double elapsed = std::chrono::duration<double>(now - last_).count();
            tokens_ = std::min(kBurst, tokens_ + elapsed * kPerSecond);
        }
        last_ = now;
        if (tokens_ < 1) {
            ++suppressed_;
            return false;
        }
        tokens_ -= 1;
        return true;
    }
    // How many were left out since the last call.
    [[nodiscard]] std::uint64_t take_suppressed() { return std::exchange(suppressed_, 0); }

private:
    static constexpr double kPerSecond = 200;
    static constexpr double kBurst = 2000;
    double tokens_ = kBurst;
    MonoTime last_{};
    std::uint64_t suppressed_ = 0;
};

}  // namespace oyat::audit
