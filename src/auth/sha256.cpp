#include "auth/sha256.hpp"

#include <openssl/evp.h>

#include <array>

#include "base/assert.hpp"

namespace oyat::auth {

std::string sha256_hex(std::string_view bytes) {
    std::array<unsigned char, 32> digest{};
    unsigned int size = 0;
    OYAT_ASSERT(::EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, ::EVP_sha256(), nullptr) == 1);
    constexpr std::string_view kDigits = "0123456789abcdef";
    std::string hex;
    for (const unsigned char byte : digest) {
        hex += kDigits[byte >> 4];
        hex += kDigits[byte & 15];
    }
    return hex;
}

}  // namespace oyat::auth
