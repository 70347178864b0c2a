#include "keeper/pem_bundle.hpp"

#include <gtest/gtest.h>

namespace oyat::keeper {
namespace {

std::string pem(const std::string& body) {
    return "-----BEGIN CERTIFICATE-----\n" + body + "\n-----END CERTIFICATE-----\n";
}

TEST(PemBundle, TakesEachCertificateAndNothingBetween) {
    EXPECT_EQ(certificates_in("# Company\n" + pem("AA") + "\n\nother words\n" + pem("BB")),
              (std::vector<std::string>{pem("AA"), pem("BB")}));
}

TEST(PemBundle, LeavesOutKeysAndWhatIsCutOff) {
    EXPECT_TRUE(certificates_in("-----BEGIN PRIVATE KEY-----\nAA\n-----END PRIVATE KEY-----\n").empty());
    EXPECT_TRUE(certificates_in("-----BEGIN CERTIFICATE-----\nAA").empty());
    EXPECT_EQ(certificates_in("-----BEGIN CERTIFICATE-----\nAA\n" + pem("BB")),
              std::vector<std::string>{pem("BB")});
}

TEST(PemBundle, AddsOnlyWhatIsMissingAndOnce) {
    EXPECT_EQ(certificates_missing({pem("AA")}, {pem("AA"), pem("BB"), pem("BB")}),
              std::vector<std::string>{pem("BB")});
}

TEST(PemBundle, KnowsACertificateInOtherLines) {
    EXPECT_TRUE(certificates_missing({pem("AABB")}, {pem("AA\r\nBB")}).empty());
}

}  // namespace
}  // namespace oyat::keeper
