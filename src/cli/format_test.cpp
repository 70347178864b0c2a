#include "cli/format.hpp"

#include <gtest/gtest.h>

#include "base/throwing.hpp"

namespace oyat::cli {
namespace {

TEST(Format, ShowsBytesAndTimesAsPeopleSayThem) {
    EXPECT_EQ(show_bytes(0), "0 B");
    EXPECT_EQ(show_bytes(1023), "1023 B");
    EXPECT_EQ(show_bytes(1536), "1.5 KiB");
    EXPECT_EQ(show_bytes(2ull << 30), "2.0 GiB");
    EXPECT_EQ(show_duration(Millis{250}), "250 ms");
    EXPECT_EQ(show_duration(Millis{3200}), "3.2 s");
    EXPECT_EQ(show_duration(Millis{300'000}), "5.0 min");
}

TEST(Format, ReadsSizes) {
    EXPECT_EQ(or_throw(parse_bytes("1000")), 1000u);
    EXPECT_EQ(or_throw(parse_bytes("512MiB")), 512ull << 20);
    EXPECT_EQ(or_throw(parse_bytes("2g")), 2ull << 30);
    for (const char* text : {"", "lots", "2x", "-1", "1.5g", "99999999999t", "g"}) {
        EXPECT_FALSE(parse_bytes(text)) << text;
    }
}

TEST(Format, ReadsTimesWithSecondsAsTheUsualUnit) {
    EXPECT_EQ(or_throw(parse_duration("90")), Millis{90'000});
    EXPECT_EQ(or_throw(parse_duration("250ms")), Millis{250});
    EXPECT_EQ(or_throw(parse_duration("24h")), Millis{86'400'000});
    for (const char* text : {"", "soon", "5y"}) EXPECT_FALSE(parse_duration(text)) << text;
}

TEST(Format, ReadsPairs) {
    EXPECT_EQ(or_throw(parse_pair("A=b=c")), (std::pair<std::string, std::string>{"A", "b=c"}));
    EXPECT_EQ(or_throw(parse_pair("A=")).second, "");
    for (const char* text : {"", "A", "=b"}) EXPECT_FALSE(parse_pair(text)) << text;
}

TEST(Format, KnowsHowFarATimeIs) {
    const WallTime now = from_unix_millis(1'796'000'060'000);
    EXPECT_EQ(show_age(to_rfc3339(from_unix_millis(1'796'000'000'000)), now), "1.0 min");
    EXPECT_EQ(show_until(to_rfc3339(from_unix_millis(1'796'000'065'000)), now), "5.0 s");
    EXPECT_EQ(show_age("yesterday", now), "");
}

TEST(Format, AlignsColumnsByWhatIsSeen) {
    EXPECT_EQ(show_table({{"A", "B"}, {"ä", "x"}, {"long", "y"}}), "A     B\nä     x\nlong  y\n");
}

TEST(Format, ALimitOfNothingIsRefusedBecauseItWouldBeReadAsNone) {
    for (const char* nothing : {"0", "0GiB"}) EXPECT_FALSE(parse_size_limit(nothing)) << nothing;
    for (const char* nothing : {"0", "0s", "0m"}) EXPECT_FALSE(parse_time_limit(nothing)) << nothing;
    EXPECT_EQ(parse_size_limit("1KiB"), 1024u);
    EXPECT_EQ(parse_time_limit("1s"), Millis{1000});
}

TEST(Format, CpusAreNumbersOfAtLeastAHundredth) {
    EXPECT_EQ(parse_cpus("2"), 2000u);
    EXPECT_EQ(parse_cpus("0.5"), 500u);
    for (const char* bad : {"", "0", "-1", "nan", "inf", "0.0001", "2x", "1e9"}) {
        EXPECT_FALSE(parse_cpus(bad)) << bad;
    }
    EXPECT_EQ(show_cpus(2000), "2 CPUs");
    EXPECT_EQ(show_cpus(500), "0.5 CPUs");
}

TEST(Format, AListeningPlaceIsAnAddressAndAPort) {
    for (const char* good : {"127.0.0.1:3000", "0.0.0.0:80", "[::1]:3000"})
        EXPECT_EQ(parse_listen(good), good);
    for (const char* bad :
         {"", "3000", "127.0.0.1", "127.0.0.1:0", "127.0.0.1:x", "127.0.0.1:99999", "name:1"}) {
        EXPECT_FALSE(parse_listen(bad)) << bad;
    }
}

}  // namespace
}  // namespace oyat::cli
