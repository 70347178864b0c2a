// Every socket family but the four that programs need.
#include <netinet/in.h>
#include <sys/socket.h>

#include "guest.hpp"

int main() {
    Guest guest{"J-06"};
    for (int family = 0; family < 64; ++family) {
        if (family == AF_UNIX || family == AF_INET || family == AF_INET6 || family == AF_NETLINK) continue;
        for (const int type : {SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_SEQPACKET}) {
            char what[64];
            snprintf(what, sizeof what, "socket(%d, %d)", family, type);
            guest.must_fail(what, socket(family, type, 0), {EPERM, EAFNOSUPPORT});
        }
    }
    const int kept = socket(AF_INET, SOCK_STREAM, 0);
    guest.must_hold("AF_INET still opens", kept >= 0);
    return guest.finish();
}
