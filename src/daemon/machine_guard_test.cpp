#include "daemon/machine_guard.hpp"

#include <gtest/gtest.h>

namespace oyat::daemon {
namespace {

TEST(MachineGuard, KeepsTheLastTenthOfMemoryAndTheLastTwentiethOfTheDisk) {
    const MachineFigures enough{
        .memory_total = 100, .memory_available = 10, .disk_total = 100, .disk_available = 5};
    EXPECT_EQ(reason_to_refuse(enough), "");
    MachineFigures figures = enough;
    figures.memory_available = 9;
    EXPECT_NE(reason_to_refuse(figures).find("memory"), std::string::npos);
    figures = enough;
    figures.disk_available = 4;
    EXPECT_NE(reason_to_refuse(figures).find("disk"), std::string::npos);
}

TEST(MachineGuard, MeasuresThisMachine) {
    const MachineFigures figures = measure_machine("/");
    EXPECT_GT(figures.memory_total, figures.memory_available);
    EXPECT_GT(figures.memory_available, 0u);
    EXPECT_GT(figures.disk_total, figures.disk_available);
}

}  // namespace
}  // namespace oyat::daemon
