#include "base/clock.hpp"

#include <array>
#include <cstdio>
#include <ctime>

namespace oyat {

std::string to_rfc3339(WallTime time) {
    const std::int64_t ms = unix_millis(time);
    const std::int64_t millis = ((ms % 1000) + 1000) % 1000;
    const std::time_t seconds = static_cast<std::time_t>((ms - millis) / 1000);
    std::tm utc{};
    ::gmtime_r(&seconds, &utc);
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", utc.tm_year + 1900, utc.tm_mon + 1,
                  utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, static_cast<int>(millis));
    return text.data();
}

}  // namespace oyat
