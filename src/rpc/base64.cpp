#include "rpc/base64.hpp"

#include <array>
#include <cstdint>

namespace oyat::rpc {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Two characters for each twelve bits: output of programs passes here, so it is worth 8 KiB.
constexpr auto kPairs = [] {
    std::array<std::array<char, 2>, 4096> pairs{};
    for (std::size_t i = 0; i < pairs.size(); ++i) pairs[i] = {kAlphabet[i >> 6], kAlphabet[i & 63]};
    return pairs;
}();

constexpr std::uint8_t kNoDigit = 0xFF;
constexpr auto kDigits = [] {
    std::array<std::uint8_t, 256> digits{};
    digits.fill(kNoDigit);
    for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
        digits[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::uint8_t>(i);
    }
    digits['-'] = 62;
    digits['_'] = 63;
    return digits;
}();

}  // namespace

void append_base64(std::string& out, std::string_view bytes) {
    const auto* in = reinterpret_cast<const unsigned char*>(bytes.data());
    const std::size_t start = out.size();
    out.resize(start + (bytes.size() + 2) / 3 * 4);
    char* to = out.data() + start;
    std::size_t i = 0;
    for (; i + 3 <= bytes.size(); i += 3, to += 4) {
        const std::uint32_t triple = in[i] << 16 | in[i + 1] << 8 | in[i + 2];
        const auto& high = kPairs[triple >> 12];
        const auto& low = kPairs[triple & 4095];
        to[0] = high[0];
        to[1] = high[1];
        to[2] = low[0];
        to[3] = low[1];
    }
    const std::size_t rest = bytes.size() - i;
    if (rest == 0) return;
    const std::uint32_t triple = in[i] << 16 | (rest == 2 ? in[i + 1] << 8 : 0);
    const auto& high = kPairs[triple >> 12];
    to[0] = high[0];
    to[1] = high[1];
    to[2] = rest == 2 ? kAlphabet[triple >> 6 & 63] : '=';
    to[3] = '=';
}

Result<std::string> decode_base64(std::string_view text) {
    for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
    if (text.size() % 4 == 1) return refuse(Errc::invalid_argument, "base64 text of an impossible length");
    std::string bytes;
    bytes.reserve(text.size() / 4 * 3 + 2);
    std::uint32_t bits = 0;
    int held = 0;
    for (const char c : text) {
        const std::uint8_t digit = kDigits[static_cast<unsigned char>(c)];
        if (digit == kNoDigit) return refuse(Errc::invalid_argument, "character that base64 does not have");
        bits = bits << 6 | digit;
        held += 6;
        if (held >= 8) {
            held -= 8;
            bytes.push_back(static_cast<char>(bits >> held & 0xFF));
        }
    }
    return bytes;
}

}  // namespace oyat::rpc
