// Netlink protocols other than the routing one.
#include <linux/netlink.h>
#include <sys/socket.h>

#include "guest.hpp"

int main() {
    Guest guest{"J-07"};
    for (int protocol = 1; protocol < 32; ++protocol) {
        char what[64];
        snprintf(what, sizeof what, "socket(AF_NETLINK, %d)", protocol);
        guest.must_fail(what, socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol),
                        {EPERM, EPROTONOSUPPORT});
    }
    guest.must_hold("NETLINK_ROUTE still opens", socket(AF_NETLINK, SOCK_RAW, NETLINK_ROUTE) >= 0);
    return guest.finish();
}
