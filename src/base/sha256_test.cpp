#include "base/sha256.hpp"

#include <gtest/gtest.h>

#include "base/sha256_blocks.hpp"

namespace oyat {
namespace {

// The examples of FIPS 180-4's validation page.
TEST(Sha256, AgreesWithThePublishedVectors) {
    EXPECT_EQ(sha256_hex(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(sha256_hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(sha256_hex(std::string(1'000'000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, DoesNotDependOnHowTheBytesAreCut) {
    std::string text;
    for (int i = 0; i < 300; ++i) text += static_cast<char>(i * 7);
    for (std::size_t length = 0; length <= text.size(); ++length) {
        const std::string_view whole = std::string_view{text}.substr(0, length);
        Sha256 sum;
        for (std::size_t at = 0; at < length;) {
            const std::size_t piece = std::min<std::size_t>(1 + at % 71, length - at);
            sum.update(whole.substr(at, piece));
            at += piece;
        }
        EXPECT_EQ(to_hex(sum.finish()), sha256_hex(whole)) << length;
    }
}

TEST(Sha256, IsTheSameWithTheProcessorsInstructions) {
    if (!detail::has_native_sha256()) GTEST_SKIP() << "this processor has none for SHA";
    std::array<std::uint8_t, 64 * 9> data{};
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::uint8_t>(i * 31 + i / 7);
    detail::Sha256State portable{1, 2, 3, 4, 5, 6, 7, 8};
    detail::Sha256State native = portable;
    detail::sha256_blocks_portable(portable, data.data(), 9);
    detail::sha256_blocks_native(native, data.data(), 9);
    EXPECT_EQ(portable, native);
}

}  // namespace
}  // namespace oyat
