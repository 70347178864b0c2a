#include "secrets/placeholder.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"
#include "secrets/base64.hpp"
#include "secrets/spellings.hpp"

namespace oyat::secrets {
namespace {

std::string make(std::string_view shape, std::string_view seed = "seed", std::string_view purpose = "a") {
    return or_throw(PlaceholderShape::parse(shape)).make(seed, purpose);
}

TEST(PlaceholderShape, OursIsAPrefixAnd22RandomCharacters) {
    const std::string made = make("");
    EXPECT_EQ(made.size(), 30u);
    EXPECT_TRUE(made.starts_with("oyat_ph_"));
    EXPECT_TRUE(has_own_shape("x" + made + "y"));
}

TEST(PlaceholderShape, TakesTheShapeThatALibraryInsistsOn) {
    const std::string made = make("sk-{8}-{24}");
    EXPECT_EQ(made.size(), 3u + 8 + 1 + 24);
    EXPECT_TRUE(made.starts_with("sk-"));
    EXPECT_EQ(made[11], '-');
}

TEST(PlaceholderShape, IsTheSameForOneSeedAndPurposeOnly) {
    EXPECT_EQ(make(""), make(""));
    EXPECT_NE(make(""), make("", "another seed"));
    EXPECT_NE(make(""), make("", "seed", "b"));
}

TEST(PlaceholderShape, RefusesWhatCouldBeGuessedOrNeedsEscaping) {
    for (const char* shape : {"sk-{10}", "sk-", "{0}", "{}", "{32", "}32{", "sk {32}", "sk\"{32}", "sk%{32}",
                              "{999}", "{200}{200}", "{-5}{32}"}) {
        EXPECT_FALSE(PlaceholderShape::parse(shape)) << shape;
    }
    EXPECT_TRUE(PlaceholderShape::parse("{11}"));
}

class SpellingsTest : public testing::Test {
protected:
    std::string placeholder_ = make("sk-{32}");
    Spellings spellings_{{{placeholder_, "orders-api"}}};
};

TEST_F(SpellingsTest, FindsThePlaceholderInEveryWriting) {
    std::string percent;
    for (const char c : placeholder_) {
        constexpr std::string_view kDigits = "0123456789ABCDEF";
        percent += '%';
        percent += kDigits[static_cast<unsigned char>(c) >> 4];
        percent += kDigits[static_cast<unsigned char>(c) & 15];
    }
    EXPECT_EQ(spellings_.find("before " + placeholder_ + " after"), "orders-api");
    EXPECT_EQ(spellings_.find(percent), "orders-api");
    for (const std::string before : {"", "u", "us", "usr", "user:"}) {
        for (const std::string after : {"", "x", "xy"}) {
            EXPECT_EQ(spellings_.find(base64(before + placeholder_ + after)), "orders-api")
                << before << after;
            EXPECT_EQ(spellings_.find(base64(before + placeholder_ + after, Base64::url)), "orders-api");
        }
    }
}

TEST_F(SpellingsTest, FindsItInNamesWhateverTheirCaseAndLabels) {
    std::string name = placeholder_.substr(0, 20) + "." + placeholder_.substr(20) + ".evil.example";
    for (char& c : name) c = static_cast<char>(std::tolower(c));
    EXPECT_EQ(spellings_.find_in_name(name), "orders-api");
    EXPECT_FALSE(spellings_.find_in_name("api.example"));
}

TEST_F(SpellingsTest, KnowsDeadOnesByOurOwnShape) {
    EXPECT_TRUE(spellings_.find("token " + make("")));
    EXPECT_FALSE(spellings_.find("oyat_ph_short"));
    EXPECT_FALSE(spellings_.find("an honest text with 100% of nothing %zz"));
}

}  // namespace
}  // namespace oyat::secrets
