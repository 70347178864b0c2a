#include "audit/segment_file.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <random>

#include "audit/line.hpp"
#include "audit/test_files.hpp"

namespace oyat::audit {
namespace {

void write_all(int file, std::string_view text) {
    ASSERT_EQ(::write(file, text.data(), text.size()), static_cast<ssize_t>(text.size()));
}

TEST(SegmentName, ComesBackFromItsFileName) {
    EXPECT_EQ(file_name({"server", 1}), "server.000001.log");
    const auto name = parse_segment_name("i0a1b2c3d4e5f6a7b8c9d.000012.log");
    ASSERT_TRUE(name);
    EXPECT_EQ(name->chain, "i0a1b2c3d4e5f6a7b8c9d");
    EXPECT_EQ(name->segment, 12u);
}

TEST(SegmentName, OtherFilesAreNone) {
    for (const char* name :
         {"", ".000001.log", "a.log", "a.00001.log", "a.0000001.log", "a.000000.log", "a.00000x.log",
          "A.000001.log", "a/b.000001.log", "a.000001.log.gz", "a000001.log"}) {
        EXPECT_FALSE(parse_segment_name(name)) << name;
    }
}

TEST(ForEachLine, FindsTheLinesOfAnyBytesWithTheirPlaces) {
    std::mt19937 random{11};
    const TestFiles files;
    for (std::uint32_t round = 1; round <= 50; ++round) {
        const Fd file = files.open("a", round);
        // Around the size of a read, so that newlines fall before, on and behind its end.
        std::string text(random() % 3 * 262'144 + random() % 64, '\0');
        for (char& byte : text)
            byte = random() % 100'000 == 0 ? '\n' : static_cast<char>('a' + random() % 26);
        if (round % 2 == 0) text += "\n";
        write_all(file.get(), text);
        std::string again;
        for_each_line(file.get(), [&](const RawLine& line) {
            EXPECT_EQ(line.offset, again.size());
            EXPECT_EQ(line.size, line.text.size());
            again.append(line.text).append(line.ended ? "\n" : "");
            return true;
        });
        EXPECT_EQ(again, text) << round;
    }
}

TEST(ForEachLine, StopsWhenItIsToldTo) {
    const TestFiles files;
    const Fd file = files.open("a", 1);
    write_all(file.get(), "1\n2\n3\n");
    int seen = 0;
    for_each_line(file.get(), [&](const RawLine&) { return ++seen < 2; });
    EXPECT_EQ(seen, 2);
}

TEST(ForEachLine, ALineWithoutEndCostsNoMoreMemoryThanTheLongestOne) {
    const TestFiles files;
    const Fd file = files.open("a", 1);
    ASSERT_EQ(::ftruncate(file.get(), 4l * kLongestLine), 0);  // zeros without a newline, none on the disk
    write_all(file.get(), "x\nlast\n");
    std::vector<std::uint64_t> sizes;
    for_each_line(file.get(), [&](const RawLine& line) {
        EXPECT_LE(line.text.size(), kLongestLine);
        EXPECT_EQ(line.cut(), sizes.empty());
        sizes.push_back(line.size);
        return true;
    });
    EXPECT_EQ(sizes, (std::vector<std::uint64_t>{4ull * kLongestLine + 1, 4}));
}

}  // namespace
}  // namespace oyat::audit
