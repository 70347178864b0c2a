#include "engine/jail/facts.hpp"

#include <gtest/gtest.h>

namespace oyat::jail {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

TEST(Facts, MemoryIsTheSandboxesOwn) {
    const std::string text =
        meminfo_text({.memory_bytes = 512 * kMiB, .memory_now = 100 * kMiB, .memory_cache = 30 * kMiB});
    EXPECT_TRUE(
        text.starts_with("MemTotal:         524288 kB\nMemFree:          421888 kB\n"
                         "MemAvailable:     452608 kB\n"))
        << text;
    EXPECT_TRUE(text.contains("SwapTotal:             0 kB\n"));
}

TEST(Facts, NeverShowMoreInUseThanThereIs) {
    const std::string text =
        meminfo_text({.memory_bytes = kMiB, .memory_now = 5 * kMiB, .memory_cache = 9 * kMiB});
    EXPECT_TRUE(text.contains("MemFree:               0 kB\nMemAvailable:       1024 kB\n")) << text;
}

TEST(Facts, CountProcessorsAndTheirTime) {
    // Ten seconds of age on two processors, four seconds of which were used.
    const std::string text =
        stat_text({.cpu_us = 4'000'000, .cpus = 2, .age_ms = 10'000, .started_s = 1'700'000'000});
    EXPECT_TRUE(
        text.starts_with("cpu  400 0 0 1600 0 0 0 0 0 0\ncpu0 200 0 0 800 0 0 0 0 0 0\n"
                         "cpu1 200 0 0 800 0 0 0 0 0 0\nintr 0\n"))
        << text;
    EXPECT_TRUE(text.contains("\nbtime 1700000000\n"));
}

TEST(Facts, ListProcessorsAsTheKernelDoes) {
    EXPECT_EQ(cpu_list_text(1), "0\n");
    EXPECT_EQ(cpu_list_text(4), "0-3\n");
}

TEST(Processors, AreCutToAsManyAsTheSandboxHas) {
    const Processors all =
        Processors::parse("processor\t: 0\nflags: a processor\t: x\n\nprocessor\t: 1\nflags: a\n\n");
    EXPECT_EQ(all.count(), 2U);
    EXPECT_EQ(all.first(1), "processor\t: 0\nflags: a processor\t: x\n\n");
    EXPECT_EQ(all.first(5), "processor\t: 0\nflags: a processor\t: x\n\nprocessor\t: 1\nflags: a\n\n");
}

}  // namespace
}  // namespace oyat::jail
