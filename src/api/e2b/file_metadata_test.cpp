#include "api/e2b/file_metadata.hpp"

#include <gtest/gtest.h>

namespace oyat::e2b {
namespace {

TEST(FileMetadata, ComesFromItsFieldsInLowerCase) {
    const auto metadata = file_metadata({{"X-Metadata-Author", "me"},
                                         {"x-metadata-Two", ""},
                                         {"X-Other", "y"},
                                         {"x-metadata-author", "z"}})
                              .value();
    ASSERT_EQ(metadata.size(), 2u);
    EXPECT_EQ(metadata.at("author"), "me");
    EXPECT_EQ(metadata.at("two"), "");
}

TEST(FileMetadata, RefusesWhatDoesNotFitBesideAFile) {
    EXPECT_FALSE(file_metadata({{"X-Metadata-", "v"}}).has_value());
    EXPECT_FALSE(file_metadata({{"X-Metadata-a", "v\tw"}}).has_value());
    EXPECT_FALSE(file_metadata({{"X-Metadata-a", "\xC3\xA9"}}).has_value());
    EXPECT_FALSE(file_metadata({{"X-Metadata-" + std::string(247, 'k'), "v"}}).has_value());
    EXPECT_TRUE(file_metadata({{"X-Metadata-" + std::string(246, 'k'), "v"}}).has_value());
    EXPECT_FALSE(file_metadata({{"X-Metadata-a", std::string(4087, 'v')}}).has_value());
    EXPECT_TRUE(file_metadata({{"X-Metadata-a", std::string(4086, 'v')}}).has_value());
}

}  // namespace
}  // namespace oyat::e2b
