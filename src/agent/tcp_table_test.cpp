#include "agent/tcp_table.hpp"

#include <gtest/gtest.h>

namespace oyat::agent {
namespace {

constexpr std::string_view kHead =
    "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n";

// A line as Linux writes it.
std::string line(std::string_view local, std::string_view remote, std::string_view state,
                 std::string_view inode = "4711") {
    return "   0: " + std::string{local} + " " + std::string{remote} + " " + std::string{state} +
           " 00000000:00000000 00:00000000 00000000     0        0 " + std::string{inode} +
           " 1 0000000000000000 100 0 0 10 0\n";
}

constexpr std::string_view kOwn = "0200FE0A:A1B2";      // 10.254.0.2
constexpr std::string_view kOutside = "22D8B85D:01BB";  // 93.184.216.34:443
constexpr std::string_view kLoop = "0100007F:0050";

TEST(TcpTable, NamesTheOtherEndOfAConnectionToOutside) {
    const auto found = outside_connections(std::string{kHead} + line(kOwn, kOutside, "01"));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].remote.text(), "93.184.216.34:443");
    EXPECT_EQ(found[0].local.text(), "10.254.0.2:41394");
    EXPECT_EQ(found[0].inode, 4711u);
}

TEST(TcpTable, ReadsAddressesOfIPv6) {
    const auto found = outside_connections(
        line("B80D0120000000000000000002000000:1F90", "B80D0120000000000000000001000000:01BB", "08"));
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].remote.text(), "[2001:0db8:0000:0000:0000:0000:0000:0001]:443");
    const auto mapped = outside_connections(
        line("0000000000000000FFFF00000200FE0A:1F90", "0000000000000000FFFF000022D8B85D:01BB", "01"));
    ASSERT_EQ(mapped.size(), 1u);
    EXPECT_EQ(mapped[0].remote.text(), "93.184.216.34:443");
}

TEST(TcpTable, LeavesConnectionsWithinTheSandboxAlone) {
    EXPECT_TRUE(outside_connections(line(kLoop, "0200007F:C350", "01")).empty());
    EXPECT_TRUE(outside_connections(line(kOwn, "0200FE0A:1F90", "01")).empty());
    EXPECT_TRUE(outside_connections(line("00000000000000000000000001000000:1F90",
                                         "00000000000000000000000001000000:C350", "01"))
                    .empty());
    EXPECT_TRUE(outside_connections(line("0000000000000000FFFF00000100007F:1F90",
                                         "0000000000000000FFFF00000100007F:C350", "01"))
                    .empty());
}

TEST(TcpTable, CountsWhatAProgramCouldStillUse) {
    for (const char* state : {"01", "02", "03", "04", "05", "08"}) {
        EXPECT_EQ(outside_connections(line(kOwn, kOutside, state)).size(), 1u) << state;
    }
    for (const char* state : {"06", "07", "09", "0A", "0B"}) {
        EXPECT_TRUE(outside_connections(line(kOwn, kOutside, state)).empty()) << state;
    }
    EXPECT_TRUE(outside_connections(line(kOwn, kOutside, "05", "0")).empty()) << "the kernel's own to close";
}

TEST(TcpTable, ReadsPastWhatIsNoLineOfIt) {
    for (const char* text : {"", "\n", "   0:", "   0: 0200FE0A:A1B2", "   0: 0200FE0A:A1B2 22D8B85D:01BB\n",
                             "   0: 0200FE0A 22D8B85D:01BB 01\n", "   0: XX00FE0A:A1B2 22D8B85D:01BB 01\n",
                             "   0: 0200FE0A:A1B222 22D8B85D:01BB 01\n"}) {
        EXPECT_TRUE(outside_connections(text).empty()) << text;
        EXPECT_EQ(outside_connections(std::string{text} + "\n" + line(kOwn, kOutside, "01")).size(), 1u)
            << text;
    }
}

}  // namespace
}  // namespace oyat::agent
