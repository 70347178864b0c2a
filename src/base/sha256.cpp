#include "base/sha256.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/sha256_blocks.hpp"

namespace oyat {
namespace {

std::uint32_t big_endian(const std::uint8_t* at) {
    std::uint32_t value = 0;
    std::memcpy(&value, at, 4);
    return std::byteswap(value);
}

}  // namespace

void detail::sha256_blocks_portable(Sha256State& state, const std::uint8_t* data, std::size_t count) {
    for (; count > 0; --count, data += 64) {
        std::array<std::uint32_t, 64> w;
        for (std::size_t i = 0; i < 16; ++i) w[i] = big_endian(data + 4 * i);
        for (std::size_t i = 16; i < 64; ++i) {
            const std::uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
            const std::uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
            w[i] = w[i - 16] + s0 + w[i - 7] + s1;
        }
        auto [a, b, c, d, e, f, g, h] = state;
        for (std::size_t i = 0; i < 64; ++i) {
            const std::uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
            const std::uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kSha256Round[i] + w[i];
            const std::uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
            const std::uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
            h = g;
            g = f;
            f = e;
            e = d + t1;
            d = c;
            c = b;
            b = a;
            a = t1 + t2;
        }
        state[0] += a;
        state[1] += b;
        state[2] += c;
        state[3] += d;
        state[4] += e;
        state[5] += f;
        state[6] += g;
        state[7] += h;
    }
}

void Sha256::blocks(const std::uint8_t* data, std::size_t count) {
    static const bool native = detail::has_native_sha256();
    if (native) {
        detail::sha256_blocks_native(state_, data, count);
    } else {
        detail::sha256_blocks_portable(state_, data, count);
    }
}

void Sha256::update(std::string_view bytes) {
    const auto* data = reinterpret_cast<const std::uint8_t*>(bytes.data());
    std::size_t left = bytes.size();
    const std::size_t held = bytes_ % 64;
    bytes_ += left;
    if (held != 0) {
        const std::size_t taken = std::min(left, 64 - held);
        std::copy_n(data, taken, partial_.begin() + static_cast<std::ptrdiff_t>(held));
        data += taken;
        left -= taken;
        if (held + taken < 64) return;
        blocks(partial_.data(), 1);
    }
    blocks(data, left / 64);
    std::copy_n(data + left / 64 * 64, left % 64, partial_.begin());
}

Sha256::Digest Sha256::finish() {
    const std::uint64_t bits = bytes_ * 8;
    std::string padding(1, '\x80');
    padding.resize(1 + (119 - bytes_ % 64) % 64, '\0');  // up to 8 bytes before the end of a block
    for (int shift = 56; shift >= 0; shift -= 8) padding += static_cast<char>(bits >> shift);
    update(padding);
    Digest digest{};
    for (std::size_t i = 0; i < digest.size(); ++i) {
        digest[i] = static_cast<std::uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
    }
    return digest;
}

std::string to_hex(const Sha256::Digest& digest) {
    constexpr std::string_view digits = "0123456789abcdef";
    std::string out;
    out.reserve(2 * digest.size());
    for (const std::uint8_t byte : digest) {
        out += digits[byte >> 4];
        out += digits[byte & 15];
    }
    return out;
}

std::string sha256_hex(std::string_view bytes) {
    Sha256 sum;
    sum.update(bytes);
    return to_hex(sum.finish());
}

}  // namespace oyat
