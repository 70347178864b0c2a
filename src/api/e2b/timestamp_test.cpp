#include "api/e2b/timestamp.hpp"

#include <gtest/gtest.h>

namespace oyat::e2b {
namespace {

TEST(Timestamp, IsReadInAllZonesAndPrecisions) {
    const WallTime time = from_unix_millis(1'796'032'923'114);
    EXPECT_EQ(to_rfc3339(time), "2026-11-30T10:02:03.114Z");
    for (const char* text : {"2026-11-30T10:02:03.114Z", "2026-11-30T10:02:03.114159+00:00",
                             "2026-11-30T11:32:03.114+01:30", "2026-11-30t05:02:03.114-05:00"}) {
        EXPECT_EQ(parse_timestamp(text).value(), time) << text;
    }
    EXPECT_EQ(parse_timestamp("2026-11-30T10:02:03Z").value(), from_unix_millis(1'796'032'923'000));
}

TEST(Timestamp, RefusesWhatIsNone) {
    for (const char* text :
         {"", "2026-11-30", "2026-11-30T10:02:03", "2026-13-30T10:02:03Z", "2026-02-30T10:02:03Z",
          "2026-11-30T24:02:03Z", "2026-11-30T10:02:03.Z", "2026-11-30T10:02:03Zx", "1796032923"}) {
        EXPECT_FALSE(parse_timestamp(text).has_value()) << text;
    }
}

}  // namespace
}  // namespace oyat::e2b
