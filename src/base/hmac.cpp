#include "base/hmac.hpp"

#include <algorithm>
#include <array>

#include "base/sha256.hpp"

namespace oyat {
namespace {

constexpr std::size_t kBlock = 64;

std::string_view bytes_of(const Sha256::Digest& digest) {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

}  // namespace

std::string hmac_sha256_hex(std::string_view key, std::string_view message) {
    Sha256::Digest short_key;
    if (key.size() > kBlock) {
        Sha256 shortened;
        shortened.update(key);
        short_key = shortened.finish();
        key = bytes_of(short_key);
    }
    std::array<char, kBlock> inner;
    std::array<char, kBlock> outer;
    inner.fill(0x36);
    outer.fill(0x5c);
    for (std::size_t i = 0; i < key.size(); ++i) {
        inner[i] = static_cast<char>(inner[i] ^ key[i]);
        outer[i] = static_cast<char>(outer[i] ^ key[i]);
    }
    Sha256 first;
    first.update({inner.data(), kBlock});
    first.update(message);
    const Sha256::Digest digest = first.finish();
    Sha256 second;
    second.update({outer.data(), kBlock});
    second.update(bytes_of(digest));
    return to_hex(second.finish());
}

}  // namespace oyat
