#include "base/clock.hpp"

#include <array>
#include <charconv>
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
    std::snprintf(text.data(), text.size(), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", utc.tm_year + 1900,
                  utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec, static_cast<int>(millis));
    return text.data();
}

namespace {

// Takes what a time is made of from its front, one piece after the other.
class Pieces {
public:
    explicit Pieces(std::string_view text) : rest_{text} {}

    int number(std::size_t digits, int least, int most) {
        int value = 0;
        const std::string_view piece = rest_.substr(0, digits);
        const auto [end, failed] = std::from_chars(piece.data(), piece.data() + piece.size(), value);
        const bool whole = failed == std::errc{} && piece.size() == digits && end == piece.data() + digits;
        if (!whole || piece.front() == '-' || value < least || value > most) good_ = false;
        rest_.remove_prefix(piece.size());
        return value;
    }
    char one_of(std::string_view accepted) {
        const char found = rest_.empty() ? '\0' : rest_.front();
        if (accepted.find(found) == std::string_view::npos) good_ = false;
        if (!rest_.empty()) rest_.remove_prefix(1);
        return found;
    }
    // ".114"; what is finer than a millisecond does not count.
    int fraction_millis() {
        if (!rest_.starts_with('.')) return 0;
        rest_.remove_prefix(1);
        int millis = 0, weight = 100;
        std::size_t digits = 0;
        for (; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; ++digits, weight /= 10) {
            millis += (rest_.front() - '0') * weight;
            rest_.remove_prefix(1);
        }
        if (digits == 0 || digits > 9) good_ = false;
        return millis;
    }
    [[nodiscard]] bool whole() const { return good_ && rest_.empty(); }

private:
    std::string_view rest_;
    bool good_ = true;
};

}  // namespace

Result<WallTime> parse_rfc3339(std::string_view text) {
    using namespace std::chrono;
    Pieces pieces{text};
    const year y{pieces.number(4, 1970, 2200)};
    pieces.one_of("-");
    const month m{static_cast<unsigned>(pieces.number(2, 1, 12))};
    pieces.one_of("-");
    const year_month_day date{y, m, day{static_cast<unsigned>(pieces.number(2, 1, 31))}};
    pieces.one_of("Tt ");
    const hours h{pieces.number(2, 0, 23)};
    pieces.one_of(":");
    const minutes min{pieces.number(2, 0, 59)};
    pieces.one_of(":");
    const seconds s{pieces.number(2, 0, 59)};
    const milliseconds fraction{pieces.fraction_millis()};
    minutes offset{0};
    if (const char zone = pieces.one_of("Zz+-"); zone == '+' || zone == '-') {
        const hours ahead{pieces.number(2, 0, 23)};
        pieces.one_of(":");
        offset = ahead + minutes{pieces.number(2, 0, 59)};
        if (zone == '-') offset = -offset;
    }
    if (!pieces.whole() || !date.ok()) {
        return refuse(Errc::invalid_argument,
                      "'" + std::string{text} + "' is not a time like \"2026-12-01T00:00:00Z\"");
    }
    return WallTime{sys_days{date} + h + min + s + fraction - offset};
}

}  // namespace oyat
