#include "http/grammar.hpp"

#include <algorithm>
#include <array>
#include <charconv>

namespace oyat::http {
namespace {

constexpr std::string_view kAlphanumeric = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

using CharTable = std::array<bool, 256>;

constexpr CharTable table_of(std::string_view more) {
    CharTable table{};
    for (const char c : kAlphanumeric) table[static_cast<unsigned char>(c)] = true;
    for (const char c : more) table[static_cast<unsigned char>(c)] = true;
    return table;
}

constexpr CharTable kTokenChars = table_of("!#$%&'*+-.^_`|~");
// No ':', '[', ']' (ports and IPv6 are looked at apart), no '@', '/', '?', '#', '\\'.
constexpr CharTable kHostChars = table_of("-._~!$&'()*+,;=%");

bool all_in(std::string_view text, const CharTable& table) {
    return std::ranges::all_of(text, [&table](char c) { return table[static_cast<unsigned char>(c)]; });
}

std::optional<std::uint64_t> parse_number(std::string_view text, std::size_t max_digits, int base) {
    if (text.empty() || text.size() > max_digits) return std::nullopt;
    std::uint64_t value = 0;
    // from_chars takes neither '+' nor blanks nor "0x", and the value is unsigned, so not '-' either.
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    return value;
}

bool is_ipv6_literal(std::string_view text) {
    return text.size() >= 4 && text.front() == '[' && text.back() == ']' &&
           text.find_first_not_of("0123456789abcdefABCDEF:.", 1) == text.size() - 1;
}

}  // namespace

bool is_token(std::string_view text) noexcept {
    return !text.empty() && all_in(text, kTokenChars);
}

bool is_field_value(std::string_view text) noexcept {
    return std::ranges::all_of(text, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return (byte >= 0x20 && byte != 0x7f) || byte == '\t';
    });
}

std::optional<FieldLine> parse_field_line(std::string_view line) noexcept {
    const auto colon = line.find(':');
    if (colon == line.npos) return std::nullopt;
    FieldLine field{.name = line.substr(0, colon), .value = line.substr(colon + 1)};
    if (!is_token(field.name) || !is_field_value(field.value)) return std::nullopt;
    const auto first = field.value.find_first_not_of(" \t");
    field.value = first == field.value.npos
                      ? std::string_view{}
                      : field.value.substr(first, field.value.find_last_not_of(" \t") - first + 1);
    return field;
}

std::optional<std::uint64_t> parse_decimal(std::string_view text, std::size_t max_digits) noexcept {
    return parse_number(text, max_digits, 10);
}

std::optional<std::uint64_t> parse_hex(std::string_view text, std::size_t max_digits) noexcept {
    return parse_number(text, max_digits, 16);
}

std::optional<HostPort> parse_host(std::string_view text) noexcept {
    HostPort parsed{.host = text};
    const auto bracket = text.rfind(']');
    const auto colon = text.rfind(':');
    if (colon != text.npos && (bracket == text.npos || colon > bracket)) {
        const auto port = parse_decimal(text.substr(colon + 1), 5);
        if (!port || *port == 0 || *port > 65535) return std::nullopt;
        parsed.host = text.substr(0, colon);
        parsed.port = static_cast<int>(*port);
    }
    if (parsed.host.empty() || parsed.host.size() > 255) return std::nullopt;
    if (!all_in(parsed.host, kHostChars) && !is_ipv6_literal(parsed.host)) return std::nullopt;
    return parsed;
}

}  // namespace oyat::http
