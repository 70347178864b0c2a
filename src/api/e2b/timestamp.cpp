#include "api/e2b/timestamp.hpp"

#include <charconv>
#include <chrono>
#include <optional>

namespace oyat::e2b {
namespace {

// Takes a number of exactly `digits` digits off the front.
std::optional<int> take_number(std::string_view& text, std::size_t digits) {
    int number = 0;
    if (text.size() < digits) return std::nullopt;
    for (const char c : text.substr(0, digits)) {
        if (c < '0' || c > '9') return std::nullopt;
        number = number * 10 + (c - '0');
    }
    text.remove_prefix(digits);
    return number;
}

bool take(std::string_view& text, std::string_view one_of) {
    if (text.empty() || one_of.find(text.front()) == std::string_view::npos) return false;
    text.remove_prefix(1);
    return true;
}

// The milliseconds of ".114159".
std::optional<int> take_fraction(std::string_view& text) {
    if (!take(text, ".")) return 0;
    int millis = 0;
    int digits = 0;
    while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
        if (digits < 3) millis = millis * 10 + (text.front() - '0');
        ++digits;
        text.remove_prefix(1);
    }
    if (digits == 0) return std::nullopt;
    for (; digits < 3; ++digits) millis *= 10;
    return millis;
}

std::optional<std::chrono::minutes> take_zone(std::string_view& text) {
    if (take(text, "Zz")) return std::chrono::minutes{0};
    const bool behind = text.starts_with('-');
    if (!take(text, "+-")) return std::nullopt;
    const std::optional<int> hours = take_number(text, 2);
    if (!hours || !take(text, ":")) return std::nullopt;
    const std::optional<int> minutes = take_number(text, 2);
    if (!minutes || *hours > 23 || *minutes > 59) return std::nullopt;
    const std::chrono::minutes offset{*hours * 60 + *minutes};
    return behind ? -offset : offset;
}

std::optional<WallTime> parse(std::string_view text) {
    const auto year = take_number(text, 4);
    if (!year || !take(text, "-")) return std::nullopt;
    const auto month = take_number(text, 2);
    if (!month || !take(text, "-")) return std::nullopt;
    const auto day = take_number(text, 2);
    if (!day || !take(text, "Tt ")) return std::nullopt;
    const auto hour = take_number(text, 2);
    if (!hour || !take(text, ":")) return std::nullopt;
    const auto minute = take_number(text, 2);
    if (!minute || !take(text, ":")) return std::nullopt;
    const auto second = take_number(text, 2);
    if (!second) return std::nullopt;
    const auto millis = take_fraction(text);
    if (!millis) return std::nullopt;
    const auto zone = take_zone(text);
    if (!zone || !text.empty()) return std::nullopt;

    const std::chrono::year_month_day date{std::chrono::year{*year}, std::chrono::month(*month),
                                           std::chrono::day(*day)};
    if (!date.ok() || *hour > 23 || *minute > 59 || *second > 60) return std::nullopt;
    return std::chrono::sys_days{date} + std::chrono::hours{*hour} + std::chrono::minutes{*minute} +
           std::chrono::seconds{*second} + Millis{*millis} - *zone;
}

}  // namespace

Result<WallTime> parse_timestamp(std::string_view text) {
    if (const std::optional<WallTime> time = parse(text)) return *time;
    return refuse(Errc::invalid_argument, "not a time like 2026-11-30T10:02:03Z");
}

}  // namespace oyat::e2b
