#include "secrets/base64.hpp"

#include <cstdint>

namespace oyat::secrets {
namespace {

constexpr std::string_view kStandard = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kUrl = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

int value_of(char c) {
    if (c == '-') c = '+';
    if (c == '_') c = '/';
    const std::size_t place = kStandard.find(c);
    return place == std::string_view::npos ? -1 : static_cast<int>(place);
}

}  // namespace

std::string base64(std::string_view bytes, Base64 alphabet) {
    const std::string_view digits = alphabet == Base64::url ? kUrl : kStandard;
    std::string text;
    text.reserve((bytes.size() + 2) / 3 * 4);
    std::uint32_t held = 0;
    int bits = 0;
    for (const char c : bytes) {
        held = held << 8 | static_cast<unsigned char>(c);
        for (bits += 8; bits >= 6; bits -= 6) text += digits[held >> (bits - 6) & 63];
    }
    if (bits > 0) text += digits[held << (6 - bits) & 63];
    while (alphabet == Base64::standard && text.size() % 4 != 0) text += '=';
    return text;
}

std::optional<std::string> from_base64(std::string_view text) {
    while (text.ends_with('=')) text.remove_suffix(1);
    if (text.size() % 4 == 1) return std::nullopt;
    std::string bytes;
    bytes.reserve(text.size() * 3 / 4);
    std::uint32_t held = 0;
    int bits = 0;
    for (const char c : text) {
        const int value = value_of(c);
        if (value < 0) return std::nullopt;
        held = held << 6 | static_cast<std::uint32_t>(value);
        bits += 6;
        if (bits < 8) continue;
        bits -= 8;
        bytes += static_cast<char>(held >> bits & 255);
    }
    return bytes;
}

}  // namespace oyat::secrets
