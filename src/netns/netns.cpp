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
#include "netns/links.hpp"
#include "netns/rules.hpp"
#include "netns/visit.hpp"

namespace oyat::netns {
namespace {

constexpr RedirectPorts kUsual{.proxy = kProxyPort, .dns_udp = kDnsPort, .dns_tcp = kDnsPort};

constexpr int kBacklog = 4096;  // net.core.somaxconn's default; the kernel cuts more down to it

sockaddr_in address_of(std::uint32_t host, std::uint16_t port) {
    return {.sin_family = AF_INET, .sin_port = ::htons(port), .sin_addr = {.s_addr = ::htonl(host)}};
}

// Where a redirect leads: of packets that are made here to 127.0.0.1, of those that come in by a link to our
// own address. A name server that is bound to 0.0.0.0 would answer from an address that is not turned back.
std::uint32_t listening_address(Shape shape) {
    return shape == Shape::loopback ? INADDR_LOOPBACK : kGatewayAddress;
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

bool try_bind(int socket, std::uint32_t host, std::uint16_t port) {
    const sockaddr_in address = address_of(host, port);
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

// Bound to the wanted port, or to any when a program inside holds that.
Fd bound_socket(int type, std::uint32_t host, std::uint16_t wanted) {
    Fd socket = new_socket(AF_INET, type);
    if (type == SOCK_STREAM) {
        const int on = 1;  // connections of a former listener may linger in TIME_WAIT
        sys(::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on), "SO_REUSEADDR");
    }
    if (!try_bind(socket.get(), host, wanted) && !try_bind(socket.get(), host, 0)) {
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

// Of a namespace that a link leads out of. IPv6 has no rules, so there is none.
void settle_link_end() {
    write_sysctl("/proc/sys/net/ipv6/conf/all/disable_ipv6", "1");
    write_sysctl("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1");
    write_sysctl("/proc/sys/net/ipv4/ip_forward", "0");  // a new namespace takes the host's value
    // A source address that we would not answer by the link is not the sandbox's.
    write_sysctl("/proc/sys/net/ipv4/conf/all/rp_filter", "1");
    // Refusals are not rationed: a program that got none would wait.
    write_sysctl("/proc/sys/net/ipv4/icmp_ratemask", "0");
}

// Only after the rules: before them there is no connection tracking to be told.
void shorten_tracking() {
    write_sysctl("/proc/sys/net/netfilter/nf_conntrack_udp_timeout", "10");
    write_sysctl("/proc/sys/net/netfilter/nf_conntrack_tcp_timeout_time_wait", "5");
}

Fd new_inner_namespace() {
    const Visit visit{Visit::NewNamespace{}};
    settle_link_end();
    return Visit::open_here();
}

}  // namespace

Netns Netns::make(Shape shape) {
    return in("make network namespace", [&] {
        Netns made{shape};
        if (shape == Shape::veth) made.inner_ = new_inner_namespace();
        {
            const Visit visit{Visit::NewNamespace{}};
            made.fd_ = Visit::open_here();
            if (shape == Shape::loopback) {
                bring_up_loopback();
                write_sysctl("/proc/sys/net/ipv4/ip_unprivileged_port_start", "0");
                write_sysctl("/proc/sys/net/ipv4/ping_group_range", "0 2147483647");
            } else {
                settle_link_end();
                if (shape == Shape::tap) {
                    made.tap_ = make_tap();
                } else {
                    make_veth(made.inner_.get());
                }
            }
            install_rules(shape, kUsual);
            made.ports_in_rules_ = kUsual;
            shorten_tracking();
        }
        if (shape == Shape::veth) {
            const Visit visit{made.inner_.get()};
            bring_up_inner_end();
        }
        return made;
    });
}

Netns Netns::of_process(pid_t pid, Shape shape) {
    const std::string path = "/proc/" + std::to_string(pid) + "/ns/net";
    Netns found{shape};
    found.fd_.reset(sys(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "open " + path));
    return found;
}

Listeners Netns::make_listeners() {
    return in("make listeners", [&] {
        const Visit visit{fd_.get()};
        const std::uint32_t host = listening_address(shape_);
        Listeners made{.proxy = bound_socket(SOCK_STREAM, host, kProxyPort),
                       .dns_udp = bound_socket(SOCK_DGRAM, host, kDnsPort),
                       .dns_tcp = bound_socket(SOCK_STREAM, host, kDnsPort)};
        const RedirectPorts ports{.proxy = port_of(made.proxy.get()),
                                  .dns_udp = port_of(made.dns_udp.get()),
                                  .dns_tcp = port_of(made.dns_tcp.get())};
        if (!ports_in_rules_ && !rules_were_replaced()) ports_in_rules_ = kUsual;
        if (ports_in_rules_ != ports) replace_rules(shape_, ports);
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
        const std::uint32_t host = shape_ == Shape::loopback ? INADDR_LOOPBACK : kOwnAddress;
        Fd ipv4 = new_socket(AF_INET, SOCK_STREAM);
        const sockaddr_in four = address_of(host, port);
        if (try_connect(ipv4.get(), reinterpret_cast<const sockaddr*>(&four), sizeof four)) return ipv4;

        if (shape_ == Shape::loopback) {
            // A server that asked for "localhost" may have got ::1 alone.
            Fd ipv6 = new_socket(AF_INET6, SOCK_STREAM);
            const sockaddr_in6 six{
                .sin6_family = AF_INET6, .sin6_port = ::htons(port), .sin6_addr = in6addr_loopback};
            if (try_connect(ipv6.get(), reinterpret_cast<const sockaddr*>(&six), sizeof six)) return ipv6;
        }
        throw Error{Errc::unavailable, Fault::command, "nothing listens there"};
    });
}

ino_t Netns::inode() const {
    struct stat facts{};
    sys(::fstat(fd_.get(), &facts), "stat network namespace");
    return facts.st_ino;
}

}  // namespace oyat::netns
