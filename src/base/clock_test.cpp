#include "base/clock.hpp"

#include <gtest/gtest.h>

namespace oyat {
namespace {

std::string shown(std::string_view text) {
    const Result<WallTime> time = parse_rfc3339(text);
    return time ? to_rfc3339(*time) : "refused";
}

TEST(Rfc3339, ReadsWhatItWrites) {
    EXPECT_EQ(shown("2026-11-30T10:02:03.114Z"), "2026-11-30T10:02:03.114Z");
    EXPECT_EQ(shown("2028-02-29T23:59:59Z"), "2028-02-29T23:59:59.000Z");
}

TEST(Rfc3339, CountsAnOffsetFromUtc) {
    EXPECT_EQ(shown("2026-12-01T01:30:00+02:00"), "2026-11-30T23:30:00.000Z");
    EXPECT_EQ(shown("2026-12-01T01:30:00-00:30"), "2026-12-01T02:00:00.000Z");
}

TEST(Rfc3339, RefusesWhatIsNoTime) {
    for (const char* text :
         {"", "2026-12-01", "2026-02-30T00:00:00Z", "2026-12-01T24:00:00Z", "2026-12-01T00:00:00",
          "2026-12-01T00:00:00.Z", "2026-12-01T00:00:00Zx", "-026-12-01T00:00:00Z", "2026-12-01T00:00:-1Z",
          "2026-12-01T00:00:00.0123456789Z"}) {
        EXPECT_EQ(shown(text), "refused") << text;
    }
}

}  // namespace
}  // namespace oyat
