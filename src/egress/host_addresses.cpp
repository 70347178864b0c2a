#include "egress/host_addresses.hpp"

#include <ifaddrs.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>

#include "base/defer.hpp"
#include "base/throwing.hpp"

namespace oyat::egress {

HostAddresses::HostAddresses()
    : notices_{sys(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE),
                   "open a socket for changes of addresses")} {
    sockaddr_nl group{};
    group.nl_family = AF_NETLINK;
    group.nl_groups = RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR;
    sys(::bind(notices_.get(), reinterpret_cast<const sockaddr*>(&group), sizeof group),
        "listen for changes of addresses");
}

bool HostAddresses::changed() {
    bool changed = std::exchange(first_, false);
    std::array<char, 8192> notice;
    for (;;) {
        const ssize_t n = ::recv(notices_.get(), notice.data(), notice.size(), 0);
        // ENOBUFS means that notices were lost, so something did change.
        if (n < 0 && errno != ENOBUFS) return changed;
        changed = true;
    }
}

std::set<IpAddress> HostAddresses::read() {
    ifaddrs* list = nullptr;
    sys(::getifaddrs(&list), "list the host's addresses");
    const Defer free_list{[&] { ::freeifaddrs(list); }};
    std::set<IpAddress> addresses;
    for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
        if (entry->ifa_addr == nullptr) continue;
        const int family = entry->ifa_addr->sa_family;
        if (family != AF_INET && family != AF_INET6) continue;
        const SocketAddress address{
            entry->ifa_addr,
            static_cast<socklen_t>(family == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6))};
        if (const auto ip = IpAddress::of(address)) addresses.insert(*ip);
    }
    return addresses;
}

}  // namespace oyat::egress
