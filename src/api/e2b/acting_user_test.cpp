#include "api/e2b/acting_user.hpp"

#include <gtest/gtest.h>

namespace oyat::e2b {
namespace {

TEST(ActingUser, ComesFromTheBasicPair) {
    EXPECT_EQ(acting_user("Basic cm9vdDo=").value(), "root");
    EXPECT_EQ(acting_user("basic dXNlcjpwdw").value(), "user");
}

TEST(ActingUser, IsTheDefaultWithoutAPair) {
    EXPECT_EQ(acting_user("").value(), "");
    EXPECT_EQ(acting_user("Bearer abc").value(), "");
    EXPECT_EQ(acting_user("Basic Og==").value(), "");
}

TEST(ActingUser, RefusesWhatIsNoPair) {
    for (const char* text : {"Basic", "Basic ", "Basic !!!", "Basic cm9vdA==", "Basic AHI6"}) {
        if (std::string_view{text} == "Basic") continue;  // no blank: another scheme
        EXPECT_FALSE(acting_user(text)) << text;
    }
}

}  // namespace
}  // namespace oyat::e2b
