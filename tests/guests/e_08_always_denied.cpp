// Addresses that no rule opens: metadata services, loopback and private networks of the host, multicast. Each
// must be refused at once, by whatever spelling.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <time.h>

#include "guest.hpp"

namespace {

double now() {
    timespec time{};
    clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

// The same IPv4 address, spelled as an IPv6 one.
int open_mapped(const char* address, int port) {
    const int fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in6 to{};
    to.sin6_family = AF_INET6;
    to.sin6_port = htons(static_cast<uint16_t>(port));
    char text[64];
    snprintf(text, sizeof text, "::ffff:%s", address);
    inet_pton(AF_INET6, text, &to.sin6_addr);
    return connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 ? fd : (close(fd), -1);
}

bool mapped_is_refused(const char* address, int port) {
    const int fd = open_mapped(address, port);
    if (fd < 0) return true;
    timeval limit{5, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    char byte = 0;
    const bool got = send(fd, "GET / HTTP/1.0\r\n\r\n", 18, MSG_NOSIGNAL) > 0 && recv(fd, &byte, 1, 0) > 0;
    close(fd);
    return !got;
}

// A connection counts as refused when no byte can be exchanged: the proxy accepts and resets, or connect
// itself fails.
bool refused(const char* address, int port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, address, &to.sin_addr);
    const double began = now();
    timeval limit{5, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    char byte = 0;
    bool answered = connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0;
    if (answered) {
        const char request[] = "GET / HTTP/1.0\r\n\r\n";
        answered = send(fd, request, sizeof request - 1, MSG_NOSIGNAL) > 0 && recv(fd, &byte, 1, 0) > 0;
    }
    close(fd);
    return !answered && now() - began < 2;
}

}  // namespace

int main() {
    Guest guest{"E-08"};
    for (const char* address :
         {"169.254.169.254", "169.254.170.2", "168.63.129.16", "100.100.100.200", "10.255.255.53", "10.0.0.1",
          "172.16.0.1", "192.168.1.1", "100.64.0.1", "198.18.0.1", "224.0.0.1", "239.255.255.250",
          "240.0.0.1", "255.255.255.255", "0.0.0.0", "10.254.0.2", "10.254.0.1"}) {
        for (const int port : {80, 443, 22}) {
            char what[64];
            snprintf(what, sizeof what, "%s:%d", address, port);
            guest.must_hold(what, refused(address, port));
            snprintf(what, sizeof what, "[::ffff:%s]:%d", address, port);
            guest.must_hold(what, mapped_is_refused(address, port));
        }
    }
    return guest.finish();
}
