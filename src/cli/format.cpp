#include "cli/format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <ctime>
#include <limits>
#include <optional>
#include <span>

#include "io/address.hpp"

namespace oyat::cli {
namespace {

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};

std::string lower(std::string_view text) {
    std::string out{text};
    for (char& c : out) {
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c + ('a' - 'A'));
    }
    return out;
}

// A number and one of the units.
Result<std::uint64_t> parse_with_unit(std::string_view text, std::span<const Unit> units,
                                      std::string_view kind) {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, value);
    const std::string unit = lower({stop, static_cast<std::size_t>(end - stop)});
    for (const Unit& known : units) {
        if (problem != std::errc{} || known.name != unit) continue;
        if (value > std::numeric_limits<std::int64_t>::max() / known.factor) break;
        return value * known.factor;
    }
    return refuse(Errc::invalid_argument, "'" + std::string{text} + "' is not a " + std::string{kind});
}

std::string with_one_digit(double value, std::string_view unit) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), value < 10 ? "%.1f %.*s" : "%.0f %.*s", value,
                  static_cast<int>(unit.size()), unit.data());
    return text.data();
}

std::optional<WallTime> parse_time(std::string_view rfc3339) {
    std::tm parts{};
    const std::string terminated{rfc3339};
    if (::strptime(terminated.c_str(), "%Y-%m-%dT%H:%M:%S", &parts) == nullptr) return std::nullopt;
    return std::chrono::system_clock::from_time_t(::timegm(&parts));
}

Millis positive(WallTime::duration duration) {
    return std::chrono::duration_cast<Millis>(std::max(duration, WallTime::duration{}));
}

std::size_t width_of(std::string_view text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; }));
}

}  // namespace

std::string show_bytes(std::uint64_t bytes) {
    constexpr std::array<std::string_view, 5> kNames{"KiB", "MiB", "GiB", "TiB", "PiB"};
    if (bytes < 1024) return std::to_string(bytes) + " B";
    auto value = static_cast<double>(bytes) / 1024;
    std::size_t name = 0;
    while (value >= 1024 && name + 1 < kNames.size()) {
        value /= 1024;
        ++name;
    }
    return with_one_digit(value, kNames[name]);
}

std::string show_cpus(std::uint64_t millis) {
    std::array<char, 64> text{};
    std::snprintf(text.data(), text.size(), "%g CPUs", static_cast<double>(millis) / 1000);
    return text.data();
}

std::string show_duration(Millis duration) {
    const auto ms = static_cast<double>(duration.count());
    if (ms < 1000) return std::to_string(duration.count()) + " ms";
    if (ms < 60'000) return with_one_digit(ms / 1000, "s");
    if (ms < 3'600'000) return with_one_digit(ms / 60'000, "min");
    if (ms < 48.0 * 3'600'000) return with_one_digit(ms / 3'600'000, "h");
    return with_one_digit(ms / (24.0 * 3'600'000), "d");
}

std::string show_age(std::string_view rfc3339, WallTime now) {
    const std::optional<WallTime> then = parse_time(rfc3339);
    return then ? show_duration(positive(now - *then)) : "";
}

std::string show_until(std::string_view rfc3339, WallTime now) {
    const std::optional<WallTime> then = parse_time(rfc3339);
    return then ? show_duration(positive(*then - now)) : "";
}

Result<std::uint64_t> parse_bytes(std::string_view text) {
    static constexpr Unit kUnits[] = {{"", 1},
                                      {"b", 1},
                                      {"k", 1ull << 10},
                                      {"kb", 1ull << 10},
                                      {"kib", 1ull << 10},
                                      {"m", 1ull << 20},
                                      {"mb", 1ull << 20},
                                      {"mib", 1ull << 20},
                                      {"g", 1ull << 30},
                                      {"gb", 1ull << 30},
                                      {"gib", 1ull << 30},
                                      {"t", 1ull << 40},
                                      {"tib", 1ull << 40}};
    return parse_with_unit(text, kUnits, "size (try 512MiB or 2GiB)");
}

Result<Millis> parse_duration(std::string_view text) {
    static constexpr Unit kUnits[] = {{"", 1000},      {"ms", 1},        {"s", 1000},      {"m", 60'000},
                                      {"min", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
    const Result<std::uint64_t> ms = parse_with_unit(text, kUnits, "time (try 90s, 5m or 24h)");
    if (!ms) return std::unexpected{ms.error()};
    return Millis{*ms};
}

Result<std::uint64_t> parse_size_limit(std::string_view text) {
    Result<std::uint64_t> bytes = parse_bytes(text);
    if (bytes && *bytes == 0) return refuse(Errc::invalid_argument, "a limit must be more than nothing");
    return bytes;
}

Result<Millis> parse_time_limit(std::string_view text) {
    Result<Millis> time = parse_duration(text);
    if (time && time->count() == 0) return refuse(Errc::invalid_argument, "a time must be more than nothing");
    return time;
}

Result<std::uint64_t> parse_cpus(std::string_view text) {
    constexpr double kLeast = 0.01, kMost = 1'000'000;
    double cpus = 0;
    const char* end = text.data() + text.size();
    const auto [stop, problem] = std::from_chars(text.data(), end, cpus);
    // A comparison that "nan" fails, too.
    if (problem != std::errc{} || stop != end || !(cpus >= kLeast && cpus <= kMost)) {
        return refuse(Errc::invalid_argument,
                      "'" + std::string{text} + "' is not a number of CPUs (try 2 or 0.5)");
    }
    return static_cast<std::uint64_t>(cpus * 1000 + 0.5);
}

Result<std::string> parse_listen(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    std::uint16_t port = 0;
    if (colon != std::string_view::npos) {
        const char* end = text.data() + text.size();
        const auto [stop, problem] = std::from_chars(text.data() + colon + 1, end, port);
        if (problem != std::errc{} || stop != end) port = 0;
    }
    std::string_view address = text.substr(0, port == 0 ? 0 : colon);
    if (address.starts_with('[') && address.ends_with(']')) address = address.substr(1, address.size() - 2);
    if (port != 0 && SocketAddress::ip(std::string{address}, port)) return std::string{text};
    return refuse(Errc::invalid_argument,
                  "'" + std::string{text} + "' is not ADDRESS:PORT (try 127.0.0.1:3000)");
}

Result<std::pair<std::string, std::uint16_t>> parse_destination(std::string_view text) {
    const std::size_t colon = text.rfind(':');
    std::uint16_t port = 0;
    std::string_view host = text.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    if (colon != std::string_view::npos && !host.empty()) {
        const char* end = text.data() + text.size();
        const auto [stop, failed] = std::from_chars(text.data() + colon + 1, end, port);
        if (failed == std::errc{} && stop == end && port != 0) return std::pair{std::string{host}, port};
    }
    return refuse(Errc::invalid_argument, "'" + std::string{text} + "' is not HOST:PORT");
}

Result<std::pair<std::string, std::string>> parse_pair(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos || equals == 0) {
        return refuse(Errc::invalid_argument, "'" + std::string{text} + "' is not NAME=VALUE");
    }
    return std::pair{std::string{text.substr(0, equals)}, std::string{text.substr(equals + 1)}};
}

std::string show_table(const std::vector<std::vector<std::string>>& rows) {
    std::vector<std::size_t> widths;
    for (const auto& row : rows) {
        widths.resize(std::max(widths.size(), row.size()));
        for (std::size_t i = 0; i < row.size(); ++i) widths[i] = std::max(widths[i], width_of(row[i]));
    }
    std::string out;
    for (const auto& row : rows) {
        for (std::size_t i = 0; i < row.size(); ++i) {
            out += row[i];
            if (i + 1 < row.size()) out.append(widths[i] - width_of(row[i]) + 2, ' ');
        }
        out += '\n';
    }
    return out;
}

}  // namespace oyat::cli
