#include "http/gzip.hpp"

#include <gtest/gtest.h>

namespace oyat::http {
namespace {

std::string packed(std::string_view text) {
    Gzip gzip;
    std::string bytes = gzip.put(text);
    return bytes + gzip.end();
}

std::string unpacked(std::string_view bytes, std::size_t step) {
    Gunzip gunzip;
    std::string text;
    for (std::size_t at = 0; at < bytes.size(); at += step) {
        gunzip.put(bytes.substr(at, step));
        while (true) {
            const Result<std::string> more = gunzip.take();
            if (!more) return "refused";
            if (more->empty()) break;
            text += *more;
        }
    }
    return gunzip.at_end() ? text : "cut off";
}

TEST(Gzip, GoesBothWaysInAnyPieces) {
    std::string text;
    for (int i = 0; i < 20'000; ++i) text += std::to_string(i);
    const std::string bytes = packed(text);
    for (const std::size_t step : {std::size_t{1}, std::size_t{1000}, bytes.size()}) {
        EXPECT_EQ(unpacked(bytes, step), text) << step;
    }
    EXPECT_EQ(unpacked(packed(""), 3), "");
}

TEST(Gunzip, TakesSeveralMembersForOneStream) {
    EXPECT_EQ(unpacked(packed("ab") + packed("cd"), 5), "abcd");
}

TEST(Gunzip, RefusesWhatIsNone) {
    EXPECT_EQ(unpacked("plain text", 100), "refused");
    EXPECT_EQ(unpacked(packed("x") + "trailing", 100), "refused");
    std::string broken = packed("some text that is long enough");
    broken[broken.size() - 6] ^= 1;  // in the checksum
    EXPECT_EQ(unpacked(broken, 100), "refused");
}

TEST(Gunzip, KnowsThatAStreamWasCutOff) {
    const std::string bytes = packed("some text that is long enough");
    EXPECT_EQ(unpacked(std::string_view{bytes}.substr(0, bytes.size() - 3), 100), "cut off");
}

TEST(Gunzip, GivesABombOutInSmallPieces) {
    const std::string bomb = packed(std::string(64 * 1024 * 1024, '\0'));
    EXPECT_LT(bomb.size(), 400'000u);
    Gunzip gunzip;
    gunzip.put(bomb);
    std::size_t total = 0;
    while (true) {
        const std::string piece = gunzip.take().value();
        if (piece.empty()) break;
        EXPECT_LE(piece.size(), Gunzip::kMostAtOnce);
        total += piece.size();
    }
    EXPECT_EQ(total, 64u * 1024 * 1024);
}

}  // namespace
}  // namespace oyat::http
