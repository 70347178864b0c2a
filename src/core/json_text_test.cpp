#include "core/json_text.hpp"

#include <gtest/gtest.h>

#include <boost/json/serialize.hpp>

namespace oyat::core {
namespace {

std::string text_of(std::string_view bytes) {
    const auto text = json_text(bytes);
    return {text.data(), text.size()};
}

TEST(JsonText, LeavesTextAsItIs) {
    EXPECT_EQ(text_of("plain \xC3\xA4 \xF0\x9F\x8C\xBE\n"), "plain \xC3\xA4 \xF0\x9F\x8C\xBE\n");
}

TEST(JsonText, ReplacesEachByteThatIsNoText) {
    EXPECT_EQ(text_of("a\xff\xfe"
                      "b"),
              "a\xEF\xBF\xBD\xEF\xBF\xBD"
              "b");
    EXPECT_EQ(text_of("cut \xF0\x9F\x8C"), "cut \xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");
    EXPECT_EQ(text_of("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD");  // a surrogate
}

TEST(JsonNames, HoldNoValues) {
    EXPECT_EQ(boost::json::serialize(json_names({{"TOKEN", "secret"}})), R"(["TOKEN"])");
}

}  // namespace
}  // namespace oyat::core
