#include "audit/retention.hpp"

#include <gtest/gtest.h>

namespace oyat::audit {
namespace {

constexpr WallTime kNow{std::chrono::days{20'000}};

SegmentFile file(std::string chain, std::uint32_t segment, int days_old, std::uint64_t bytes = 1) {
    return {
        .name = {std::move(chain), segment}, .bytes = bytes, .changed = kNow - std::chrono::days{days_old}};
}

std::vector<std::string> due(const std::vector<SegmentFile>& files, const Retention& retention,
                             const std::string& in_use = {}) {
    std::vector<std::string> names;
    for (const SegmentFile& each : due_segments(
             files, kNow, retention, [&](const SegmentName& name) { return file_name(name) == in_use; })) {
        names.push_back(file_name(each.name));
    }
    return names;
}

TEST(Retention, SegmentsGoWhenTheirTimeIsOver) {
    EXPECT_EQ(due({file("a", 1, 31), file("a", 2, 29), file("b", 1, 40)}, {}),
              (std::vector<std::string>{"b.000001.log", "a.000001.log"}));
}

TEST(Retention, TheOldestGoWhenThereIsTooMuch) {
    const Retention small{.bytes = 100};
    EXPECT_EQ(due({file("a", 1, 3, 60), file("a", 2, 2, 60), file("b", 1, 1, 30)}, small),
              std::vector<std::string>{"a.000001.log"});
    EXPECT_TRUE(due({file("a", 1, 3, 60), file("b", 1, 1, 40)}, small).empty());
}

TEST(Retention, WhatIsBeingWrittenStays) {
    EXPECT_TRUE(due({file("server", 7, 90)}, {}, "server.000007.log").empty());
}

TEST(Retention, WithinAChainTheEarlierSegmentGoesFirst) {
    EXPECT_EQ(due({file("a", 2, 31), file("a", 1, 31)}, {}),
              (std::vector<std::string>{"a.000001.log", "a.000002.log"}));
}

}  // namespace
}  // namespace oyat::audit
