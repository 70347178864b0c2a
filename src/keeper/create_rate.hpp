#pragma once

#include <algorithm>
#include <cstdint>

#include "base/clock.hpp"

namespace oyat::keeper {

// A bucket of tokens: `per_second` creates a second, as many at once (threats D-07).
class CreateRate {
public:
    CreateRate(std::uint32_t per_second, MonoTime now)
        : per_second_{per_second}, left_{double(per_second)}, last_{now} {}

    [[nodiscard]] bool allow(MonoTime now) {
        const std::chrono::duration<double> passed = now - last_;
        last_ = now;
        left_ = std::min<double>(per_second_, left_ + (passed.count() * per_second_));
        if (left_ < 1) return false;
        left_ -= 1;
        return true;
    }

private:
    std::uint32_t per_second_;
    double left_;
    MonoTime last_;
};

}  // namespace oyat::keeper
