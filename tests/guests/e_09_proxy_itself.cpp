// Straight to the listeners of the proxy and the name server, without a redirect on the way.
#include <arpa/inet.h>
#include <netinet/in.h>
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

}  // namespace

int main() {
    Guest guest{"E-09"};
    for (const char* address : {"127.0.0.1", "10.254.0.2", "127.0.0.2"}) {
        guest.must_hold("the proxy's listener gives nothing", !answered(address, 65501));
        guest.must_hold("the name server gives no HTTP", !answered(address, 65502));
    }
    return guest.finish();
}
