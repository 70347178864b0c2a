#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "base/fd.hpp"
#include "netns/rules.hpp"

namespace oyat::netns {

// Reserved ports inside every sandbox: all TCP arrives at the first, DNS over UDP and TCP at the second.
inline constexpr std::uint16_t kProxyPort = 65501;
inline constexpr std::uint16_t kDnsPort = 65502;

// The sockets inside a sandbox's namespace that oyatd serves. All non-blocking and close-on-exec. While any
// copy of them is open, no program inside can take the ports.
struct Listeners {
    Fd proxy;  // TCP; SO_ORIGINAL_DST tells where a connection was going. A program that connects straight to
               // the listener shows the listener's own address there: the proxy must refuse it.
    Fd dns_udp;
    Fd dns_tcp;
};

// A network namespace with no way out but the proxy: only `lo`, a default route into it, and a redirect of
// every TCP connection and every DNS question to our listeners. There is no veth, bridge or host interface
// that a bug or a root user inside could route around. Other UDP and ICMP to the outside fail with EPERM at
// once, IPv6 beyond ::1 with ENETUNREACH. It belongs to the initial user namespace, so root inside a sandbox
// holds no capability over it. Single-use: connection tracking and sockets of one sandbox must never be seen
// by another (threats E-17).
class Netns {
public:
    // A new namespace with its rules in force (about a millisecond: take one from a NetnsPool on a request's
    // path). Needs CAP_SYS_ADMIN and CAP_NET_ADMIN in the initial user namespace. The calling thread is back
    // in its own namespace when this returns or throws.
    static Netns make();

    // The namespace that a living sandbox is in, found by its pid 1. The caller vouches for the pid (pid and
    // start time compared, threats D-12).
    static Netns of_process(pid_t pid);

    // Makes the listening sockets and has the redirect lead to them. When a program inside holds a reserved
    // port (it can, once all copies of former listeners were closed), another port is used and the rules are
    // changed, so it gains nothing by it.
    [[nodiscard]] Listeners make_listeners();

    // A TCP socket of the namespace, non-blocking, on its way to 127.0.0.1:port (EINPROGRESS is success: the
    // caller waits for it to be writable and reads SO_ERROR). Throws `unavailable` when refused at once and
    // `invalid_argument` for port 0 and the reserved ports.
    [[nodiscard]] Fd dial(std::uint16_t port) const;

    // For setns: a sandbox enters before its user namespace is made.
    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    [[nodiscard]] ino_t inode() const;  // tells namespaces apart

private:
    Netns(Fd fd, std::optional<RedirectPorts> ports) : fd_{std::move(fd)}, ports_in_rules_{ports} {}

    Fd fd_;
    std::optional<RedirectPorts> ports_in_rules_;  // unknown for a namespace that a former keeper made
};

}  // namespace oyat::netns
