#pragma once

#include <string>
#include <string_view>

namespace oyat {

// Appends `text` as a JSON string, quotes included. Bytes that are not UTF-8 become U+FFFD, control
// characters become \u00XX: whatever a sandbox sends, the line stays valid JSON (RFC 8259).
void append_json_string(std::string& out, std::string_view text);

[[nodiscard]] std::string json_string(std::string_view text);

// True when every byte belongs to well-formed UTF-8 (no overlong forms, no surrogates).
[[nodiscard]] bool is_utf8(std::string_view text) noexcept;

}  // namespace oyat
