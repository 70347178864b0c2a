#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <utility>

#include "base/fd.hpp"
#include "netns/rules.hpp"
#include "netns/shape.hpp"

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

// A network namespace with no way out but the proxy: `lo` or a link to the sandbox, and a redirect of every
// TCP connection and every DNS question to our listeners. Nothing leads from it to the host that a bug or a
// root user inside could route around. What else goes to the outside fails at once: for processes that stand
// in it other UDP and ICMP with EPERM, IPv6 beyond ::1 with ENETUNREACH; beyond a link other UDP with
// ECONNREFUSED. It belongs to the initial user namespace, so root inside a sandbox holds no capability over
// it. Single-use: connection tracking and sockets of one sandbox must never be seen by another (threats
// E-17).
//
// A namespace lives as long as somebody stands in it or has it open. One of Shape::veth is two: the sandbox's
// network stack stands in inner(), which holds nothing else, and somebody must stand in this one.
class Netns {
public:
    // A new namespace with its rules in force (about a millisecond: take one from a NetnsPool on a request's
    // path). Needs CAP_SYS_ADMIN and CAP_NET_ADMIN in the initial user namespace. The calling thread is back
    // in its own namespace when this returns or throws.
    static Netns make(Shape shape);

    // The namespace of a living sandbox, found by a process that stands in it. The caller vouches for the pid
    // (pid and start time compared, threats D-12). Only what a sandbox is started with is missing: its tap,
    // its inner namespace.
    static Netns of_process(pid_t pid, Shape shape);

    // Makes the listening sockets and has the redirect lead to them. When a program inside holds a reserved
    // port (it can, once all copies of former listeners were closed), another port is used and the rules are
    // changed, so it gains nothing by it.
    [[nodiscard]] Listeners make_listeners();

    // A TCP socket of the namespace, non-blocking, on its way to the sandbox's port: on 127.0.0.1 (or ::1),
    // or beyond a link on 10.254.0.2 (EINPROGRESS is success: the caller waits for it to be writable and
    // reads SO_ERROR). Throws `unavailable` when refused at once and `invalid_argument` for port 0 and the
    // reserved ports.
    [[nodiscard]] Fd dial(std::uint16_t port) const;

    // For setns: a sandbox enters before its user namespace is made.
    [[nodiscard]] int fd() const noexcept { return fd_.get(); }
    // The namespace with the sandbox's end of a veth; -1 for other shapes, and for one that was found.
    [[nodiscard]] int inner() const noexcept { return inner_.get(); }
    // The machine's end of a tap, once: after that it is the receiver's to hold, and to close where 40 ms do
    // not matter. Nothing for other shapes, and for one that was found.
    [[nodiscard]] Fd tap() noexcept { return std::move(tap_); }
    [[nodiscard]] Shape shape() const noexcept { return shape_; }
    [[nodiscard]] ino_t inode() const;  // tells namespaces apart

private:
    explicit Netns(Shape shape) : shape_{shape} {}

    Shape shape_;
    Fd fd_;
    Fd inner_;
    Fd tap_;
    std::optional<RedirectPorts> ports_in_rules_;  // unknown for a namespace that a former keeper made
};

}  // namespace oyat::netns
