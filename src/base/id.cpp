#include "base/id.hpp"

#include <sys/random.h>

#include <array>
#include <cstdint>
#include <span>

#include "base/assert.hpp"

namespace oyat {
namespace {

void fill_random(std::span<unsigned char> out) {
    while (!out.empty()) {
        const ssize_t n = ::getrandom(out.data(), out.size(), 0);
        OYAT_ASSERT(n > 0);
        out = out.subspan(static_cast<std::size_t>(n));
    }
}

constexpr std::string_view kAlphabet = "abcdefghijklmnopqrstuvwxyz0123456789";
constexpr std::size_t kIdLength = 21;

std::string new_id(char kind) {
    std::string id{kind};
    while (id.size() < kIdLength) {
        std::array<unsigned char, 32> raw{};
        fill_random(raw);
        for (const unsigned char byte : raw) {
            // 252 = 7 * 36: what lies above would make some letters likelier than others.
            if (byte < 252 && id.size() < kIdLength) id += kAlphabet[byte % kAlphabet.size()];
        }
    }
    return id;
}

bool is_id(std::string_view text, char kind) noexcept {
    return text.size() == kIdLength && text[0] == kind &&
           text.substr(1).find_first_not_of(kAlphabet) == std::string_view::npos;
}

}  // namespace

std::string new_sandbox_id() {
    return new_id('i');
}

bool is_sandbox_id(std::string_view text) noexcept {
    return is_id(text, 'i');
}

std::string new_snapshot_id() {
    return new_id('s');
}

bool is_snapshot_id(std::string_view text) noexcept {
    return is_id(text, 's');
}

std::string random_hex(std::size_t bytes) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string raw(bytes, '\0');
    fill_random({reinterpret_cast<unsigned char*>(raw.data()), raw.size()});
    std::string out;
    out.reserve(bytes * 2);
    for (const char c : raw) {
        out += digits[static_cast<unsigned char>(c) >> 4];
        out += digits[static_cast<unsigned char>(c) & 15];
    }
    return out;
}

std::string new_uuid() {
    std::string hex = random_hex(16);
    hex[12] = '4';
    hex[16] = "89ab"[static_cast<unsigned char>(hex[16]) & 3];
    for (const std::size_t at : {20u, 16u, 12u, 8u}) hex.insert(at, "-");
    return hex;
}

bool equal_constant_time(std::string_view a, std::string_view b) noexcept {
    if (a.size() != b.size()) return false;
    unsigned char difference = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
    }
    return difference == 0;
}

}  // namespace oyat
