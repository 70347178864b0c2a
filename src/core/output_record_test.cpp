#include "core/output_record.hpp"

#include <gtest/gtest.h>

namespace oyat::core {
namespace {

std::string text_of(const boost::json::object& object, std::string_view name) {
    const auto& text = object.at(name).as_string();
    return {text.data(), text.size()};
}

// Bytes that differ from place to place.
std::string pattern(std::size_t size) {
    std::string out;
    out.reserve(size + 16);
    while (out.size() < size) out += std::to_string(out.size()) + "\n";
    out.resize(size);
    return out;
}

TEST(OutputRecord, OfNothingIsOnlyACount) {
    TextBudget budget{1u << 30};
    OutputRecord record{budget};
    const auto json = record.finish();
    EXPECT_EQ(json.size(), 1u);
    EXPECT_EQ(json.at("bytes").to_number<int>(), 0);
}

TEST(OutputRecord, KeepsAllUpToTwoMebibytes) {
    TextBudget budget{1u << 30};
    const std::string all = pattern(2u << 20);
    OutputRecord record{budget};
    for (std::size_t at = 0; at < all.size(); at += 50'000)
        record.add(std::string_view{all}.substr(at, 50'000));
    const auto json = record.finish();
    EXPECT_EQ(json.at("kept").as_string(), "all");
    EXPECT_EQ(text_of(json, "text"), all);
    EXPECT_EQ(text_of(json, "sha256"), sha256_hex(all));
}

TEST(OutputRecord, KeepsTheFirstAndTheLastMebibyteOfMore) {
    for (const std::size_t piece : {std::size_t{7'001}, std::size_t{65'536}, std::size_t{9u << 20}}) {
        TextBudget budget{1u << 30};
        const std::string all = pattern((5u << 20) + 123);
        OutputRecord record{budget};
        for (std::size_t at = 0; at < all.size(); at += piece)
            record.add(std::string_view{all}.substr(at, piece));
        const auto json = record.finish();
        EXPECT_EQ(json.at("bytes").to_number<std::uint64_t>(), all.size());
        EXPECT_EQ(json.at("kept").as_string(), "ends");
        EXPECT_EQ(text_of(json, "head"), all.substr(0, 1u << 20)) << piece;
        EXPECT_EQ(text_of(json, "tail"), all.substr(all.size() - (1u << 20))) << piece;
        EXPECT_EQ(text_of(json, "sha256"), sha256_hex(all));
    }
}

TEST(OutputRecord, KeepsTheEndsOfWhatTheBudgetDoesNotAllow) {
    TextBudget budget{0};
    const std::string all = pattern(1u << 20);
    OutputRecord record{budget};
    for (std::size_t at = 0; at < all.size(); at += 1'000)
        record.add(std::string_view{all}.substr(at, 1'000));
    const auto json = record.finish();
    EXPECT_EQ(json.at("kept").as_string(), "ends");
    EXPECT_EQ(text_of(json, "head"), all.substr(0, 32u << 10));
    EXPECT_EQ(text_of(json, "tail"), all.substr(all.size() - (32u << 10)));
}

TEST(OutputRecord, GivesItsMemoryBackToTheBudget) {
    TextBudget budget{1u << 20};
    {
        OutputRecord record{budget};
        record.add(pattern(900'000));
        EXPECT_FALSE(budget.take(500'000));
    }
    EXPECT_TRUE(budget.take(1u << 20));
}

TEST(OutputRecord, SaysWhenBytesWereNoText) {
    TextBudget budget{0};
    OutputRecord record{budget};
    record.add("a\xff");
    const auto json = record.finish();
    EXPECT_TRUE(json.at("lossy").as_bool());
    EXPECT_EQ(text_of(json, "text"), "a\xEF\xBF\xBD");
}

}  // namespace
}  // namespace oyat::core
