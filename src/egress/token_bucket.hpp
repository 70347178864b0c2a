#pragma once

#include <algorithm>
#include <chrono>

#include "base/clock.hpp"

namespace oyat::egress {

// So many a second on average, so many at once. Starts full.
class TokenBucket {
public:
    TokenBucket(double per_second, double burst, MonoTime now)
        : per_second_{per_second}, burst_{burst}, tokens_{burst}, refilled_{now} {}

    [[nodiscard]] bool take(MonoTime now) {
        const std::chrono::duration<double> elapsed = now - refilled_;
        refilled_ = now;
        tokens_ = std::min(burst_, tokens_ + elapsed.count() * per_second_);
        if (tokens_ < 1) return false;
        tokens_ -= 1;
        return true;
    }

private:
    double per_second_;
    double burst_;
    double tokens_;
    MonoTime refilled_;
};

}  // namespace oyat::egress
