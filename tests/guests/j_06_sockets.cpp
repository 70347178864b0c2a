// Every socket family but the four that programs need, and programs for the kernel that ride on a socket.
#include <linux/filter.h>
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
    // A filter for a socket is a program for the kernel.
    sock_filter all{.code = BPF_RET | BPF_K, .jt = 0, .jf = 0, .k = 0xFFFF};
    const sock_fprog program{.len = 1, .filter = &all};
    for (const int option :
         {SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF, SO_ATTACH_REUSEPORT_EBPF}) {
        char what[64];
        snprintf(what, sizeof what, "setsockopt(SOL_SOCKET, %d)", option);
        guest.must_fail(what, setsockopt(kept, SOL_SOCKET, option, &program, sizeof program), {EPERM});
    }
    return guest.finish();
}
