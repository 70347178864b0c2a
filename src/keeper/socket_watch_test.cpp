#include "keeper/socket_watch.hpp"

#include <gtest/gtest.h>

namespace oyat::keeper {
namespace {

TEST(SocketWatch, ReadsWhatTheKernelCounts) {
    EXPECT_EQ(sockets_in_use("sockets: used 1701\nTCP: inuse 2 orphan 1 tw 0 alloc 21 mem 0\n"), 1701U);
    EXPECT_EQ(netlink_sockets("protocol  size sockets  memory press maxhdr  slab module     cl co\n"
                              "PACKET    1600      4      -1   NI       0   no   kernel      n  n\n"
                              "NETLINK   1096   3003      -1   NI       0   no   kernel      n  n\n"),
              3003U);
    EXPECT_EQ(available_kib("MemTotal:       24683652 kB\nMemAvailable:   23983128 kB\n"), 23'983'128U);
}

TEST(SocketWatch, TakesATextThatIsNotThereForNoSockets) {
    for (const char* text : {"", "sockets: used ", "\nNETLINK ", "\nNETLINK 1096 ", "\nNETLINK x y"}) {
        EXPECT_EQ(sockets_in_use(text), 0U) << text;
        EXPECT_EQ(netlink_sockets(text), 0U) << text;
    }
}

}  // namespace
}  // namespace oyat::keeper
