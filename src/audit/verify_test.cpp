#include "audit/verify.hpp"

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "audit/log.hpp"
#include "audit/test_files.hpp"

namespace oyat::audit {
namespace {

class VerifyTest : public testing::Test {
protected:
    VerifyTest() {
        Log server{"server", 1, files.open("server", 1), clock};
        Log log{"i1", 1, files.open("i1", 1), clock};
        for (int n = 0; n < 3; ++n)
            log.append(R"({"v":1,"type":"command.started","pid":)" + std::to_string(n) + "}");
        server.append_own(
            "audit.sealed",
            {{"chain", "i1"}, {"segment", 1}, {"bytes", log.bytes()}, {"h", to_hex(log.head())}}, 0);
        log.append(R"({"v":1,"type":"command.exited"})");
    }
    std::string read(const std::string& chain) {
        std::ifstream file{files.path(chain, 1), std::ios::binary};
        return {std::istreambuf_iterator<char>{file}, {}};
    }
    void replace(const std::string& chain, const std::string& text) {
        std::ofstream{files.path(chain, 1), std::ios::binary | std::ios::trunc} << text;
    }
    Report check() { return verify(files.directory()); }
    const ChainReport& chain(const Report& report) { return report.chains.at(1); }

    SystemClock clock;
    TestFiles files;
};

TEST_F(VerifyTest, WhatNobodyTouchedHolds) {
    const Report report = check();
    EXPECT_TRUE(report.sound()) << report.text();
    EXPECT_EQ(chain(report).lines, 5u);
    EXPECT_FALSE(chain(report).closed);
}

TEST_F(VerifyTest, AnyChangedByteShows) {
    const std::string whole = read("i1");
    // But for the very last newline: without it, the last line looks like one that is being written.
    for (std::size_t at = 0; at + 1 < whole.size(); ++at) {
        std::string changed = whole;
        changed[at] = changed[at] == 'x' ? 'y' : 'x';
        replace("i1", changed);
        EXPECT_FALSE(check().sound()) << "byte " << at;
    }
}

TEST_F(VerifyTest, ARemovedLineShowsAndWhatCameBeforeStillHolds) {
    std::string text = read("i1");
    const std::size_t second = text.find('\n') + 1;
    const std::size_t third = text.find('\n', second) + 1;
    replace("i1", text.erase(second, third - second));
    const Report report = check();
    ASSERT_TRUE(chain(report).broken);
    EXPECT_EQ(chain(report).broken->line, 2u);
    EXPECT_EQ(chain(report).lines, 1u);
}

TEST_F(VerifyTest, AnAddedLineShows) {
    const std::string text = read("i1");
    replace("i1", text + make_line(Digest{}, R"({"v":1,"type":"command.exited"})"));
    EXPECT_FALSE(check().sound());
}

// The chain itself would still be whole: only the server's seal knows that there was more.
TEST_F(VerifyTest, ACutEndShowsByTheSeal) {
    const std::string text = read("i1");
    std::size_t end = 0;
    for (int n = 0; n < 3; ++n) end = text.find('\n', end) + 1;
    replace("i1", text.substr(0, end));
    const Report report = check();
    EXPECT_FALSE(chain(report).broken);
    EXPECT_TRUE(chain(report).missing) << report.text();
}

TEST_F(VerifyTest, ARewrittenChainShowsByTheSeal) {
    std::filesystem::remove(files.path("i1", 1));
    Log log{"i1", 1, files.open("i1", 1), clock};
    for (int n = 0; n < 9; ++n) log.append(R"({"v":1,"type":"command.started","pid":7})");
    EXPECT_TRUE(chain(check()).missing);
}

TEST_F(VerifyTest, ALineThatIsBeingWrittenIsNoFinding) {
    replace("i1", read("i1") + R"({"h":"0123)");
    EXPECT_TRUE(check().sound()) << check().text();
}

TEST_F(VerifyTest, AGapThatCoversOtherBytesDoesNotHealATornLine) {
    replace("i1", read("i1") + "torn");
    {
        Log log{"i1", 1, files.open("i1", 1), clock};
    }
    ASSERT_TRUE(check().sound());
    std::string text = read("i1");
    text[text.find("torn!")] = 'x';
    replace("i1", text);
    EXPECT_FALSE(check().sound());
}

TEST_F(VerifyTest, OneSegmentCanBeCheckedAlone) {
    const Report report = verify(files.path("i1", 1));
    EXPECT_TRUE(report.sound());
    EXPECT_EQ(report.chains.at(0).lines, 5u);
    EXPECT_THROW((void)verify("/etc/hostname"), Error);
}

}  // namespace
}  // namespace oyat::audit
