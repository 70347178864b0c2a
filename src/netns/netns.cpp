#include "netns/netns.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include <cerrno>
#include <string>

#include "base/throwing.hpp"
#include "netns/loopback.hpp"
#include "netns/rules.hpp"
#include "netns/visit.hpp"

namespace oyat::netns {
namespace {

constexpr RedirectPorts kUsual{.proxy = kProxyPort, .dns_udp = kDnsPort, .dns_tcp = kDnsPort};

constexpr int kBacklog = 4096;  // net.core.somaxconn's default; the kernel cuts more down to it

sockaddr_in loopback_address(std::uint16_t port) {
    return {
        .sin_family = AF_INET, .sin_port = ::htons(port), .sin_addr = {.s_addr = ::htonl(INADDR_LOOPBACK)}};
}

// /proc/sys/net shows the namespace of the thread that opens it.
void write_sysctl(const char* path, std::string_view value) {
    in(path, [&] {
        const Fd file{sys(::open(path, O_WRONLY | O_CLOEXEC), "open")};
        sys(::write(file.get(), value.data(), value.size()), "write");
    });
}

Fd new_socket(int family, int type) {
    return Fd{sys(::socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0), "socket")};
}

bool try_bind(int socket, std::uint16_t port) {
    const sockaddr_in address = loopback_address(port);
    if (::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return true;
    if (errno == EADDRINUSE) return false;
    throw errno_error(errno, "bind " + std::to_string(port));
}

std::uint16_t port_of(int socket) {
    sockaddr_in address{};
    socklen_t length = sizeof address;
    sys(::getsockname(socket, reinterpret_cast<sockaddr*>(&address), &length), "getsockname");
    return ::ntohs(address.sin_port);
}

// Bound to the wanted port, or to any when a program inside holds that. Only 127.0.0.1: that is where a
// redirect of locally made packets leads, and a name server bound to 0.0.0.0 would answer from an address
// that is not turned back.
Fd bound_socket(int type, std::uint16_t wanted) {
    Fd socket = new_socket(AF_INET, type);
    if (type == SOCK_STREAM) {
        const int on = 1;  // connections of a former listener may linger in TIME_WAIT
        sys(::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), "SO_REUSEADDR");
    }
    if (!try_bind(socket.get(), wanted) && !try_bind(socket.get(), 0)) {
        throw Error{Errc::exhausted, "no port is free inside"};
    }
    if (type == SOCK_STREAM) sys(::listen(socket.get(), kBacklog), "listen");
    return socket;
}

// Starts to connect; false when nobody listens there. Over loopback the refusal is there as soon as
// connect(2) has let go of the socket; on a machine under load it may come later, and then the caller sees
// it.
bool try_connect(int socket, const sockaddr* address, socklen_t length) {
    if (::connect(socket, address, length) == 0) return true;
    int error = errno;
    if (error == EINPROGRESS) {
        pollfd state{.fd = socket, .events = POLLOUT, .revents = 0};
        if (::poll(&state, 1, 0) == 0) return true;
        socklen_t size = sizeof error;
        sys(::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size), "SO_ERROR");
    }
    if (error == 0) return true;
    if (error == ECONNREFUSED || error == EADDRNOTAVAIL || error == ENETUNREACH) return false;
    throw errno_error(error, "connect");
}

}  // namespace

Netns Netns::make() {
    return in("make network namespace", [] {
        const Visit visit{Visit::NewNamespace{}};
        bring_up_loopback();
        write_sysctl("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
        write_sysctl("/proc/sys/net/ipv4/ping_group_range", "0 2147483647");
        install_rules(kUsual);
        // Only now: before the rules there is no connection tracking to be told.
        write_sysctl("/proc/sys/net/netfilter/nf_conntrack_udp_timeout", "10");
        write_sysctl("/proc/sys/net/netfilter/nf_conntrack_tcp_timeout_time_wait", "5");
        return Netns{Visit::open_here(), kUsual};
    });
}

Netns Netns::of_process(pid_t pid) {
    const std::string path = "/proc/" + std::to_string(pid) + "/ns/net";
    return Netns{Fd{sys(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "open " + path)}, std::nullopt};
}

Listeners Netns::make_listeners() {
    return in("make listeners", [&] {
        const Visit visit{fd_.get()};
        Listeners made{.proxy = bound_socket(SOCK_STREAM, kProxyPort),
                       .dns_udp = bound_socket(SOCK_DGRAM, kDnsPort),
                       .dns_tcp = bound_socket(SOCK_STREAM, kDnsPort)};
        const RedirectPorts ports{.proxy = port_of(made.proxy.get()),
                                  .dns_udp = port_of(made.dns_udp.get()),
                                  .dns_tcp = port_of(made.dns_tcp.get())};
        if (!ports_in_rules_ && !rules_were_replaced()) ports_in_rules_ = kUsual;
        if (ports_in_rules_ != ports) replace_rules(ports);
        ports_in_rules_ = ports;
        return made;
    });
}

Fd Netns::dial(std::uint16_t port) const {
    return in("dial port " + std::to_string(port), [&] {
        if (port == 0 || port == kProxyPort || port == kDnsPort) {
            throw Error{Errc::invalid_argument, "the port is reserved"};
        }
        const Visit visit{fd_.get()};
        Fd ipv4 = new_socket(AF_INET, SOCK_STREAM);
        const sockaddr_in four = loopback_address(port);
        if (try_connect(ipv4.get(), reinterpret_cast<const sockaddr*>(&four), sizeof four)) return ipv4;

        // A server that asked for "localhost" may have got ::1 alone.
        Fd ipv6 = new_socket(AF_INET6, SOCK_STREAM);
        const sockaddr_in6 six{
            .sin6_family = AF_INET6, .sin6_port = ::htons(port), .sin6_addr = in6addr_loopback};
        if (try_connect(ipv6.get(), reinterpret_cast<const sockaddr*>(&six), sizeof six)) return ipv6;
        throw Error{Errc::unavailable, Fault::command, "nothing listens there"};
    });
}

ino_t Netns::inode() const {
    struct stat facts{};
    sys(::fstat(fd_.get(), &facts), "stat network namespace");
    return facts.st_ino;
}

}  // namespace oyat::netns
