#include "api/e2b/byte_range.hpp"

#include <algorithm>
#include <charconv>

namespace oyat::e2b {
namespace {

std::optional<std::uint64_t> number_of(std::string_view text) {
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return number;
}

}  // namespace

RangeAnswer range_for(std::string_view field, std::uint64_t size) {
    constexpr std::string_view kUnit = "bytes=";
    if (!field.starts_with(kUnit)) return {};
    const std::string_view spec = field.substr(kUnit.size());
    const std::size_t dash = spec.find('-');
    if (dash == std::string_view::npos) return {};
    const std::string_view from = spec.substr(0, dash);
    const std::string_view to = spec.substr(dash + 1);

    if (from.empty()) {
        const std::optional<std::uint64_t> last = number_of(to);
        if (!last) return {};
        if (*last == 0 || size == 0) return {RangeKind::unsatisfiable, {}};
        const std::uint64_t length = std::min(*last, size);
        return {RangeKind::part, {size - length, length}};
    }
    const std::optional<std::uint64_t> first = number_of(from);
    std::optional<std::uint64_t> last = number_of(to);
    if (!first || (!to.empty() && !last)) return {};
    if (last && *last < *first) return {};
    if (*first >= size) return {RangeKind::unsatisfiable, {}};
    last = std::min(last.value_or(size - 1), size - 1);
    return {RangeKind::part, {*first, *last - *first + 1}};
}

}  // namespace oyat::e2b
