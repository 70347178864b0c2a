#include "engine/gvisor/bundle.hpp"

#include <gtest/gtest.h>

namespace oyat::gvisor {
namespace {

const BundlePlan kPlan{
    .host_name = "sb", .first_id = 1'879'048'192, .open_files = 4096, .argv = {"/agent", "a \"b\""}};

TEST(Bundle, MapsAllIdsOfTheSandboxAndNoOther) {
    const std::string map = R"([{"containerID":0,"size":65536,"hostID":1879048192}])";
    EXPECT_NE(bundle_text(kPlan).find(R"("uidMappings":)" + map), std::string::npos);
    EXPECT_NE(bundle_text(kPlan).find(R"("gidMappings":)" + map), std::string::npos);
}

TEST(Bundle, KeepsFromRootInsideWhatAJailKeepsFromIt) {
    for (const char* capability :
         {"SYS_ADMIN", "NET_ADMIN", "SYS_PTRACE", "MKNOD", "SYS_RESOURCE", "SYS_TIME"}) {
        EXPECT_EQ(bundle_text(kPlan).find(capability), std::string::npos) << capability;
    }
}

TEST(Bundle, ShowsNothingOfTheHostButTheAgentAndItsDoorBothReadOnly) {
    const std::string text = bundle_text(kPlan);
    std::size_t binds = 0;
    for (std::size_t at = 0;
         (at = text.find(R"("type":"bind","options":["bind","ro"])", at)) != std::string::npos; ++at) {
        ++binds;
    }
    EXPECT_EQ(binds, 2U);
    EXPECT_EQ(text.find(R"("rw")"), std::string::npos);
}

TEST(Bundle, QuotesTheWordsOfTheCommand) {
    EXPECT_NE(bundle_text(kPlan).find(R"("args":["/agent","a \"b\""])"), std::string::npos);
}

}  // namespace
}  // namespace oyat::gvisor
