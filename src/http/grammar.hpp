#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "http/fields.hpp"

// The small words of RFC 9110 and 9112, strictly.
namespace oyat::http {

// One or more characters of which names and methods are made.
[[nodiscard]] bool is_token(std::string_view text) noexcept;

// Visible characters, blanks, tabs and bytes above 0x7f; nothing that could end a line. May be empty.
[[nodiscard]] bool is_field_value(std::string_view text) noexcept;

struct FieldLine {
    std::string_view name;
    std::string_view value;
};
// "Name: value" without its CRLF. Refuses blanks before the colon and folded lines.
[[nodiscard]] std::optional<FieldLine> parse_field_line(std::string_view line) noexcept;

// Digits only: no sign, no blank, no prefix, and not more of them than `max_digits`.
[[nodiscard]] std::optional<std::uint64_t> parse_decimal(std::string_view text,
                                                         std::size_t max_digits) noexcept;
[[nodiscard]] std::optional<std::uint64_t> parse_hex(std::string_view text, std::size_t max_digits) noexcept;

struct HostPort {
    std::string_view host;  // IPv6 with its brackets
    int port = 0;           // 0 when there is none
};
// The value of a Host field.
[[nodiscard]] std::optional<HostPort> parse_host(std::string_view text) noexcept;

}  // namespace oyat::http
