#include "core/deadlines.hpp"

#include <gtest/gtest.h>

namespace oyat::core {
namespace {

using namespace std::chrono_literals;

TEST(Deadlines, GiveWhatIsDueInItsOrder) {
    Deadlines deadlines;
    const MonoTime now{1h};
    deadlines.set("late", now + 10s);
    deadlines.set("soon", now + 1s);
    deadlines.set("first", now);
    EXPECT_EQ(deadlines.take_due(now + 1s), (std::vector<std::string>{"first", "soon"}));
    EXPECT_TRUE(deadlines.take_due(now + 1s).empty());
    EXPECT_EQ(deadlines.next(), now + 10s);
}

TEST(Deadlines, HoldOneTimeForEach) {
    Deadlines deadlines;
    const MonoTime now{1h};
    deadlines.set("a", now + 1s);
    deadlines.set("a", now + 5s);
    EXPECT_TRUE(deadlines.take_due(now + 2s).empty());
    deadlines.drop("a");
    deadlines.drop("a");
    EXPECT_FALSE(deadlines.next());
}

}  // namespace
}  // namespace oyat::core
