// Straight to the listeners of the proxy and the name server, without a redirect on the way.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/time.h>

#include "guest.hpp"

namespace {

bool answered(const char* address, int port) {
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, address, &to.sin_addr);
    timeval limit{3, 0};
    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    char byte = 0;
    const bool got = connect(fd, reinterpret_cast<sockaddr*>(&to), sizeof to) == 0 &&
                     send(fd, "GET / HTTP/1.0\r\n\r\n", 18, MSG_NOSIGNAL) > 0 && recv(fd, &byte, 1, 0) > 0;
    close(fd);
    return got;
}

// Taking the place of a listener, by whatever sharing of ports there is.
int bind_beside(int family, int type, int port) {
    const int fd = socket(family, type | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof on);
    sockaddr_in four{};
    four.sin_family = AF_INET;
    four.sin_port = htons(static_cast<uint16_t>(port));
    inet_pton(AF_INET, "127.0.0.1", &four.sin_addr);
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    six.sin6_port = four.sin_port;
    inet_pton(AF_INET6, "::ffff:127.0.0.1", &six.sin6_addr);
    const bool is_four = family == AF_INET;
    int result = bind(fd, is_four ? reinterpret_cast<sockaddr*>(&four) : reinterpret_cast<sockaddr*>(&six),
                      is_four ? sizeof four : sizeof six);
    if (result == 0 && type == SOCK_STREAM) result = listen(fd, 1);
    const int err = errno;
    close(fd);
    errno = err;
    return result;
}

// Packets that look as if they came from elsewhere, or as if somebody else had judged them.
int set_option(int family, int level, int option) {
    const int fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    const int result = setsockopt(fd, level, option, &on, sizeof on);
    const int err = errno;
    close(fd);
    errno = err;
    return result;
}

}  // namespace

int main() {
    Guest guest{"E-09"};
    for (const char* address : {"127.0.0.1", "10.254.0.2", "127.0.0.2"}) {
        guest.must_hold("the proxy's listener gives nothing", !answered(address, 65501));
        guest.must_hold("the name server gives no HTTP", !answered(address, 65502));
    }
    for (const int family : {AF_INET, AF_INET6}) {
        guest.must_fail("the proxy's port", bind_beside(family, SOCK_STREAM, 65501), {EADDRINUSE});
        guest.must_fail("the name server's port", bind_beside(family, SOCK_STREAM, 65502), {EADDRINUSE});
        guest.must_fail("the name server's UDP port", bind_beside(family, SOCK_DGRAM, 65502), {EADDRINUSE});
    }
    guest.must_fail("SO_MARK", set_option(AF_INET, SOL_SOCKET, SO_MARK), {EPERM});
    guest.must_fail("IP_TRANSPARENT", set_option(AF_INET, IPPROTO_IP, IP_TRANSPARENT), {EPERM});
    guest.must_fail("IPV6_TRANSPARENT", set_option(AF_INET6, IPPROTO_IPV6, IPV6_TRANSPARENT), {EPERM});
    guest.must_fail("TCP_REPAIR", set_option(AF_INET, IPPROTO_TCP, TCP_REPAIR), {EPERM});
    return guest.finish();
}
