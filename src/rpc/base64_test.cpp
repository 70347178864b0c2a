#include "rpc/base64.hpp"

#include <gtest/gtest.h>

namespace oyat::rpc {
namespace {

using namespace std::string_literals;

std::string encoded(std::string_view bytes) {
    std::string out;
    append_base64(out, bytes);
    return out;
}

TEST(Base64, IsWrittenInTheStandardAlphabetWithPadding) {
    EXPECT_EQ(encoded(""), "");
    EXPECT_EQ(encoded("f"), "Zg==");
    EXPECT_EQ(encoded("fo"), "Zm8=");
    EXPECT_EQ(encoded("foo"), "Zm9v");
    EXPECT_EQ(encoded("\xFB\xFF\xFE"s), "+//+");
}

TEST(Base64, IsReadInEitherAlphabetPaddedOrNot) {
    EXPECT_EQ(decode_base64("Zg==").value(), "f");
    EXPECT_EQ(decode_base64("Zg").value(), "f");
    EXPECT_EQ(decode_base64("Zm8").value(), "fo");
    EXPECT_EQ(decode_base64("-__-").value(), "\xFB\xFF\xFE"s);
    EXPECT_EQ(decode_base64("+//+").value(), "\xFB\xFF\xFE"s);
}

TEST(Base64, GoesBothWaysForAllBytes) {
    std::string bytes;
    for (int i = 0; i < 256; ++i) {
        bytes.push_back(static_cast<char>(i));
        EXPECT_EQ(decode_base64(encoded(bytes)).value(), bytes);
    }
}

TEST(Base64, RefusesWhatIsNone) {
    for (const char* text : {"Z", "Zm9vZ", "Zm 9v", "Zm9v\n", "====", "Z===", "Zm9\x80"}) {
        EXPECT_FALSE(decode_base64(text).has_value()) << text;
    }
}

}  // namespace
}  // namespace oyat::rpc
