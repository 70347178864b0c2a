// Everything that is not TCP over IPv4 fails at once: UDP, IPv6, raw sockets, other transports.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>
#include <sys/socket.h>
#include <time.h>

#include "guest.hpp"

namespace {

double now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

}  // namespace

int main() {
    Guest guest{"E-10"};
    const double began = now();
    for (const int port : {443, 123, 500, 51820, 4789, 1900, 5353}) {
        const int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
        sockaddr_in to{};
        to.sin_family = AF_INET;
        to.sin_port = htons(static_cast<uint16_t>(port));
        inet_pton(AF_INET, "1.1.1.1", &to.sin_addr);
        char what[64];
        snprintf(what, sizeof what, "UDP to port %d", port);
        guest.must_fail(what, sendto(fd, "x", 1, 0, reinterpret_cast<sockaddr*>(&to), sizeof to),
                        {EPERM, EACCES, ECONNREFUSED});
        close(fd);
    }
    const int mapped = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(443);
    inet_pton(AF_INET6, "::ffff:1.1.1.1", &six.sin6_addr);
    guest.must_fail("UDP by a mapped address",
                    sendto(mapped, "x", 1, 0, reinterpret_cast<sockaddr*>(&six), sizeof six),
                    {EPERM, EACCES, ENETUNREACH, EADDRNOTAVAIL});
    for (const char* address : {"2606:4700:4700::1111", "fe80::1", "fd00:ec2::254", "ff02::1",
                                "64:ff9b::a9fe:a9fe", "2002:a9fe:a9fe::1"}) {
        inet_pton(AF_INET6, address, &six.sin6_addr);
        for (const int type : {SOCK_STREAM, SOCK_DGRAM}) {
            const int fd = socket(AF_INET6, type | SOCK_CLOEXEC, 0);
            const long result = type == SOCK_STREAM
                                    ? connect(fd, reinterpret_cast<sockaddr*>(&six), sizeof six)
                                    : sendto(fd, "x", 1, 0, reinterpret_cast<sockaddr*>(&six), sizeof six);
            guest.must_fail(address, result,
                            {ENETUNREACH, EHOSTUNREACH, EPERM, EACCES, EADDRNOTAVAIL, EINVAL});
            close(fd);
        }
    }
    // ICMP echo to outside goes nowhere, whether by a ping socket or (as root) a raw one.
    const int ping = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_ICMP);
    if (ping >= 0) {
        icmphdr echo{};
        echo.type = ICMP_ECHO;
        sockaddr_in to{};
        to.sin_family = AF_INET;
        inet_pton(AF_INET, "1.1.1.1", &to.sin_addr);
        guest.must_fail("ICMP echo to outside",
                        sendto(ping, &echo, sizeof echo, 0, reinterpret_cast<sockaddr*>(&to), sizeof to),
                        {EPERM, EACCES, ENETUNREACH, EHOSTUNREACH});
    }
    for (const int protocol : {IPPROTO_SCTP, IPPROTO_DCCP, IPPROTO_UDPLITE, IPPROTO_GRE}) {
        for (const int type : {SOCK_STREAM, SOCK_SEQPACKET, SOCK_DGRAM, SOCK_RAW}) {
            const int fd = socket(AF_INET, type | SOCK_CLOEXEC, protocol);
            if (fd < 0) continue;
            sockaddr_in to{};
            to.sin_family = AF_INET;
            to.sin_port = htons(9);
            inet_pton(AF_INET, "1.1.1.1", &to.sin_addr);
            char what[64];
            snprintf(what, sizeof what, "protocol %d, type %d", protocol, type);
            guest.must_fail(
                what,
                sendto(fd, "xxxxxxxxxxxxxxxxxxxxxxxx", 24, 0, reinterpret_cast<sockaddr*>(&to), sizeof to),
                {EPERM, EACCES, ENETUNREACH, EHOSTUNREACH, ENOTCONN, EPIPE, EINVAL, EOPNOTSUPP});
            close(fd);
        }
    }
    guest.must_hold("all of it failed at once, not by time-outs", now() - began < 5);
    return guest.finish();
}
