#include "audit/log.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>

#include "audit/test_files.hpp"
#include "audit/verify.hpp"
#include "base/throwing.hpp"

namespace oyat::audit {
namespace {

class LogTest : public testing::Test {
protected:
    Log open(std::uint32_t segment = 1) { return Log{"i1", segment, files.open("i1", segment), clock}; }
    void append_raw(std::string_view text) {
        const Fd file = files.open("i1", 1);
        ASSERT_EQ(::write(file.get(), text.data(), text.size()), static_cast<ssize_t>(text.size()));
    }
    Report check() { return verify(files.directory()); }

    SystemClock clock;
    TestFiles files;
};

std::string record(int n) {
    return R"({"v":1,"type":"command.started","seq":)" + std::to_string(n) + "}";
}

TEST_F(LogTest, AChainGoesOnAfterARestart) {
    {
        Log log = open();
        log.append(record(1));
    }
    Log log = open();
    EXPECT_EQ(log.last_type(), "command.started");
    EXPECT_EQ(log.seq_found(), 1u);
    log.append(record(2));
    const Report report = check();
    EXPECT_TRUE(report.sound()) << report.text();
    EXPECT_EQ(report.chains.at(0).lines, 3u) << "audit.segment and two records";
}

TEST_F(LogTest, ALineTornByTheDeathOfItsWriterStaysAndIsCovered) {
    {
        Log log = open();
        log.append(record(1));
    }
    append_raw(R"({"h":"00ab)");
    {
        Log log = open();
        log.append(record(2));
    }
    const Report report = check();
    EXPECT_TRUE(report.sound()) << report.text();
    ASSERT_EQ(report.chains.at(0).gaps.size(), 1u);
    EXPECT_NE(report.chains[0].gaps[0].find("torn"), std::string::npos);
}

TEST_F(LogTest, ALineThatLostOnlyItsNewlineIsWhole) {
    Log log = open();
    log.append(record(1));
    std::filesystem::resize_file(files.path("i1", 1), log.bytes() - 1);
    Log again = open();
    again.append(record(2));
    const Report report = check();
    EXPECT_TRUE(report.sound()) << report.text();
    EXPECT_TRUE(report.chains.at(0).gaps.empty());
    EXPECT_EQ(report.chains[0].lines, 3u);
}

// Wherever the file is cut, what comes before the cut stays verified and the chain goes on.
TEST_F(LogTest, SurvivesACutAtEveryByte) {
    std::uint64_t before = 0;
    std::uint64_t after = 0;
    {
        Log log = open();
        before = log.bytes();
        log.append(record(1));
        after = log.bytes();
    }
    std::ifstream whole_file{files.path("i1", 1)};
    const std::string whole{std::istreambuf_iterator<char>{whole_file}, {}};
    for (std::uint64_t cut = 0; cut <= after; ++cut) {
        std::ofstream{files.path("i1", 1), std::ios::trunc} << whole.substr(0, cut);
        {
            Log log = open();
            log.append(record(2));
        }
        const Report report = check();
        EXPECT_TRUE(report.sound()) << "cut at " << cut << " of " << before << "/" << after << ": "
                                    << report.text();
    }
}

TEST_F(LogTest, SurvivesAnyBytesAtItsEnd) {
    std::mt19937 random{7};
    for (int round = 0; round < 200; ++round) {
        std::filesystem::remove(files.path("i1", 1));
        {
            Log log = open();
            log.append(record(1));
        }
        std::string noise(random() % 300, '\0');
        for (char& byte : noise) byte = "\n{}\"h:0a!\xff"[random() % 10];
        append_raw(noise);
        {
            Log log = open();
            log.append(record(2));
        }
        const Report report = check();
        EXPECT_TRUE(report.sound()) << round << ": " << report.text();
    }
}

// Files may not become longer, as on a disk that is full.
void limit(rlim_t bytes) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit value{.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
    sys(::setrlimit(RLIMIT_FSIZE, &value), "set the limit");
}

TEST_F(LogTest, AFullDiskTearsALineAndTheChainSaysSo) {
    Log log = open();
    limit(log.bytes() + 20);
    EXPECT_THROW(log.append(record(1)), Error);
    EXPECT_THROW(log.append(record(1)), Error) << "and again";
    limit(RLIM_INFINITY);
    log.append(record(2));
    const Report report = check();
    EXPECT_TRUE(report.sound()) << report.text();
    EXPECT_EQ(report.chains.at(0).gaps.size(), 1u);
    EXPECT_EQ(report.chains[0].lines, 3u) << "audit.segment, audit.gap and the second record";
}

TEST_F(LogTest, GoesOnWhereItWasWhenTheNextSegmentCannotBeBegun) {
    Log log = open();
    log.append(record(1));
    limit(10);
    EXPECT_THROW(log.continue_in(files.open("i1", 2), 1), Error);
    limit(RLIM_INFINITY);
    log.append(record(2));
    EXPECT_EQ(log.segment(), 1u);
    log.continue_in(files.open("i1", 2), 2);
    log.append(record(3));
    const Report report = check();
    EXPECT_TRUE(report.sound()) << report.text();
    EXPECT_EQ(report.chains.at(0).last_segment, 2u);
}

TEST_F(LogTest, ANewSegmentNamesTheLastLineOfTheOneBefore) {
    Log log = open();
    log.append(record(1));
    const std::string head = to_hex(log.head());
    log.continue_in(files.open("i1", 2), 1);
    log.append(record(2));
    const Report report = check();
    EXPECT_TRUE(report.sound()) << report.text();
    EXPECT_EQ(report.chains.at(0).last_segment, 2u);
    std::ifstream second{files.path("i1", 2)};
    std::string first_line;
    std::getline(second, first_line);
    EXPECT_NE(first_line.find(head), std::string::npos);
}

}  // namespace
}  // namespace oyat::audit
