#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string_view>

#include "keeper/boxes.hpp"
#include "keeper/loop.hpp"

namespace oyat::keeper {

// What waits in a netlink socket is memory of the kernel in nobody's account, a quarter of a MiB a socket,
// and each process may open thousands: one program could use up the machine past its memory limit. No limit
// of the kernel fits. So whenever the machine has lost memory, sandboxes are asked how many such sockets they
// hold, and one with far more than any honest program needs is ended.
class SocketWatch {
public:
    static constexpr std::uint64_t kMostNetlinkSockets = 512;

    SocketWatch(Loop& loop, Boxes& boxes);
    SocketWatch(const SocketWatch&) = delete;
    SocketWatch& operator=(const SocketWatch&) = delete;
    ~SocketWatch() { loop_.cancel(timer_); }

private:
    void look_again();
    void look();

    Loop& loop_;
    Boxes& boxes_;
    std::uint64_t most_available_;  // KiB, since the last look at the sandboxes
    Loop::TimerId timer_ = 0;
};

// "sockets: used 17": of all kinds, from a text of /proc/PID/net/sockstat.
[[nodiscard]] std::uint64_t sockets_in_use(std::string_view sockstat);
// The second number of the line NETLINK of /proc/PID/net/protocols.
[[nodiscard]] std::uint64_t netlink_sockets(std::string_view protocols);
// "MemAvailable:  123 kB" of /proc/meminfo.
[[nodiscard]] std::uint64_t available_kib(std::string_view meminfo);

}  // namespace oyat::keeper
