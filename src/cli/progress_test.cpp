#include "cli/progress.hpp"

#include <gtest/gtest.h>

namespace oyat::cli {
namespace {

TEST(Progress, SaysHowFarAndHowFast) {
    EXPECT_EQ(show_progress("big", 10 << 20, 40 << 20, Millis{2000}, 80), "big  10 MiB of 40 MiB  5.0 MiB/s");
    EXPECT_EQ(show_progress("-", 512, std::nullopt, Millis{1000}, 80), "-  512 B  512 B/s");
}

TEST(Progress, ANarrowTerminalCutsTheNameNotTheFigures) {
    EXPECT_EQ(show_progress("a-long-name", 512, std::nullopt, Millis{1000}, 20), "a-lo  512 B  512 B/s");
    EXPECT_EQ(show_progress("name", 512, std::nullopt, Millis{0}, 3), "  512 B  500 KiB/s");
}

}  // namespace
}  // namespace oyat::cli
