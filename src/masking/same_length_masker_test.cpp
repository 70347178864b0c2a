#include "masking/same_length_masker.hpp"

#include <gtest/gtest.h>

namespace oyat::masking {
namespace {

const std::string kValue = "orders-key-0123456789";
const std::string kStars(kValue.size(), '*');

std::shared_ptr<const Patterns> patterns() {
    return Patterns::of({{.name = "orders", .value = kValue}});
}

std::string in_pieces(std::string_view text, std::size_t at) {
    SameLengthMasker masker{patterns()};
    std::string out;
    masker.feed(text.substr(0, at), out);
    masker.feed(text.substr(at), out);
    masker.finish(out);
    return out;
}

TEST(SameLengthMasker, EachByteOfAValueBecomesAStar) {
    SameLengthMasker masker{patterns()};
    std::string out;
    masker.feed("{\"key\": \"" + kValue + "\"}", out);
    EXPECT_EQ(out, "{\"key\": \"" + kStars + "\"}");
    EXPECT_EQ(masker.names(), std::set<std::string>{"orders"});
}

TEST(SameLengthMasker, FindsOtherShapesToo) {
    std::string out;
    SameLengthMasker masker{patterns()};
    masker.feed("b3JkZXJzLWtleS0wMTIzNDU2Nzg5", out);  // base64
    masker.finish(out);
    EXPECT_EQ(out.find("LWtleS0wMTIz"), std::string::npos) << out;
    EXPECT_EQ(out.size(), 28U);
}

TEST(SameLengthMasker, WhereverAStreamIsCutAtMostSevenBytesOfAValueAreSeen) {
    const std::string text = "a " + kValue + " b";
    for (std::size_t at = 0; at <= text.size(); ++at) {
        const std::string out = in_pieces(text, at);
        ASSERT_EQ(out.size(), text.size()) << at;
        EXPECT_EQ(out.find(kValue.substr(0, 8)), std::string::npos) << at << ": " << out;
        EXPECT_EQ(out.find(kValue.substr(7)), std::string::npos) << at << ": " << out;
    }
}

TEST(SameLengthMasker, OtherBytesPassAtOnceAndUnchanged) {
    SameLengthMasker masker{patterns()};
    std::string out;
    masker.feed("data: order", out);  // begins like the value
    EXPECT_EQ(out, "data: order");
    masker.feed("s were placed\n\n", out);
    EXPECT_EQ(out, "data: orders were placed\n\n");
}

TEST(SameLengthMasker, TheEndOfAStreamShowsNoBeginningOfAValue) {
    SameLengthMasker masker{patterns()};
    std::string out;
    masker.feed("x" + kValue.substr(0, 15), out);
    masker.finish(out);
    EXPECT_EQ(out, "x" + std::string(15, '*'));
}

}  // namespace
}  // namespace oyat::masking
