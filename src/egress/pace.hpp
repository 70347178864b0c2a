#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

#include "base/clock.hpp"

namespace oyat::egress {

// So many bytes a second over all connections of a sandbox. Bytes pass first and are paid for afterwards, by
// waiting: an idle second may be used up in one go, no more.
class Pace {
public:
    explicit Pace(std::uint64_t bytes_per_second) : rate_{bytes_per_second} {}  // 0: as fast as it goes

    // How long whoever moved these bytes has to wait before the next.
    [[nodiscard]] std::chrono::nanoseconds after(std::uint64_t bytes, MonoTime now) {
        if (rate_ == 0) return std::chrono::nanoseconds{0};
        constexpr std::chrono::seconds kSaved{1};
        const std::chrono::duration<double> cost{static_cast<double>(bytes) / static_cast<double>(rate_)};
        paid_until_ =
            std::max(paid_until_, now - kSaved) + std::chrono::duration_cast<MonoTime::duration>(cost);
        return std::max<std::chrono::nanoseconds>(paid_until_ - now, std::chrono::nanoseconds{0});
    }

private:
    std::uint64_t rate_;
    MonoTime paid_until_{};
};

}  // namespace oyat::egress
