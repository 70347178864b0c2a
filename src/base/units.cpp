#include "base/units.hpp"

#include <charconv>
#include <limits>
#include <string>
#include <utility>

namespace oyat {
namespace {

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};

// A whole number, then one of the units. Anything else, and what does not fit, is refused.
template <std::size_t N>
Result<std::uint64_t> parse(std::string_view text, const Unit (&units)[N], std::string_view kind) {
    std::uint64_t number = 0;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
    const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
    for (const Unit& known : units) {
        if (failed != std::errc{} || unit != known.name) continue;
        if (number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) / known.factor)
            break;
        return number * known.factor;
    }
    return refuse(Errc::invalid_argument, "'" + std::string{text} + "' is not " + std::string{kind});
}

}  // namespace

Result<std::uint64_t> parse_bytes(std::string_view text) {
    constexpr Unit kUnits[] = {
        {"", 1}, {"KiB", 1ull << 10}, {"MiB", 1ull << 20}, {"GiB", 1ull << 30}, {"TiB", 1ull << 40}};
    return parse(text, kUnits, "a size like \"512MiB\"");
}

Result<Millis> parse_duration(std::string_view text) {
    constexpr Unit kUnits[] = {{"ms", 1}, {"s", 1000}, {"m", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
    auto ms = parse(text, kUnits, "a time like \"5m\"");
    if (!ms) return std::unexpected{std::move(ms).error()};
    return Millis{static_cast<std::int64_t>(*ms)};
}

}  // namespace oyat
