#include "audit/line.hpp"

#include <gtest/gtest.h>

namespace oyat::audit {
namespace {

constexpr std::string_view kRecord = R"({"v":1})";

TEST(Line, FollowsTheDocumentedFormatByteByByte) {
    Hasher hasher;
    const Digest head = hasher.chained(Digest{}, kRecord);
    // (printf '\002'; head -c 32 /dev/zero; printf '{"v":1}') | sha256sum
    EXPECT_EQ(to_hex(head), "220f2bfa0872120c5c6488db1c8c8c6d54338aa22b27ec4b37c67839cab239e0");
    EXPECT_EQ(make_line(head, kRecord), "{\"h\":\"" + to_hex(head) + "\",\"r\":{\"v\":1}}\n");
}

TEST(Line, ComesBackAsItWas) {
    Hasher hasher;
    const Digest head = hasher.chained(Digest{}, kRecord);
    std::string text = make_line(head, kRecord);
    text.pop_back();
    const Line line = parse_line(text).value();
    EXPECT_EQ(line.head, head);
    EXPECT_EQ(line.record, kRecord);
}

TEST(Line, EveryChangeOfTheRecordOrOfWhatCameBeforeChangesTheDigest) {
    Hasher hasher;
    const Digest head = hasher.chained(Digest{}, kRecord);
    EXPECT_NE(hasher.chained(Digest{}, R"({"v":2})"), head);
    EXPECT_NE(hasher.chained(head, kRecord), head);
    EXPECT_NE(hasher.plain(kRecord), head) << "a record's digest is never that of a file with the same bytes";
}

TEST(Line, RefusesWhatIsNoLine) {
    const std::string hex(64, 'a');
    for (const std::string& text :
         {std::string{}, std::string{"{}"}, "{\"h\":\"" + hex + "\",\"r\":{}",
          "{\"h\":\"" + hex + "\",\"r\":[]}", "{\"h\":\"" + std::string(64, 'A') + "\",\"r\":{}}",
          "{\"h\":\"" + std::string(63, 'a') + "\",\"r\":{}}", "{\"h\":\"" + hex + "\", \"r\":{}}",
          " {\"h\":\"" + hex + "\",\"r\":{}}", "{\"h\":\"" + hex + "\",\"r\":{}}\n"}) {
        EXPECT_FALSE(parse_line(text)) << text;
    }
}

}  // namespace
}  // namespace oyat::audit
