#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace oyat {

// SHA-256 (FIPS 180-4) of bytes that come in pieces, for the rooms that have no OpenSSL: digests of command
// output.
class Sha256 {
public:
    using Digest = std::array<std::uint8_t, 32>;

    void update(std::string_view bytes);
    // Ends the computation; the object is of no use afterwards.
    [[nodiscard]] Digest finish();

private:
    void blocks(const std::uint8_t* data, std::size_t count);

    std::array<std::uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                        0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<std::uint8_t, 64> partial_{};
    std::uint64_t bytes_ = 0;
};

// 64 lower-case hex digits.
[[nodiscard]] std::string to_hex(const Sha256::Digest& digest);
[[nodiscard]] std::string sha256_hex(std::string_view bytes);

}  // namespace oyat
