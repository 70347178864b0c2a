#include "netns/links.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <linux/if_addr.h>
#include <linux/if_tun.h>
#include <linux/rtnetlink.h>
#include <linux/veth.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "base/throwing.hpp"
#include "netns/netlink.hpp"
#include "netns/shape.hpp"

namespace oyat::netns {
namespace {

constexpr std::uint32_t kLoopbackIndex = 1;  // the kernel gives 1 to `lo` in every namespace
constexpr std::uint16_t kNew = NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;
constexpr const char* kTapName = "t0";
constexpr const char* kOuterName = "out";
constexpr const char* kInnerName = "eth0";

std::uint32_t index_of(const char* name) {
    const unsigned index = ::if_nametoindex(name);
    if (index == 0) throw errno_error(errno, std::string{"find "} + name);
    return index;
}

void add_link_up(NetlinkBatch& batch, std::uint32_t index) {
    const ifinfomsg link{.ifi_family = AF_UNSPEC,
                         .ifi_index = static_cast<int>(index),
                         .ifi_flags = IFF_UP,
                         .ifi_change = IFF_UP};
    batch.begin(RTM_NEWLINK, NLM_F_ACK, bytes_of(link));
    batch.end();
}

void add_address(NetlinkBatch& batch, std::uint32_t index, std::uint32_t address, std::uint8_t prefix) {
    const ifaddrmsg header{.ifa_family = AF_INET,
                           .ifa_prefixlen = prefix,
                           .ifa_flags = IFA_F_PERMANENT,
                           .ifa_scope = RT_SCOPE_UNIVERSE,
                           .ifa_index = index};
    batch.begin(RTM_NEWADDR, kNew, bytes_of(header));
    batch.attr_be(IFA_LOCAL, address);
    batch.attr_be(IFA_ADDRESS, address);
    batch.end();
}

enum class Via : std::uint8_t { link, gateway };

void add_default_route(NetlinkBatch& batch, std::uint32_t index, Via via) {
    const bool on_link = via == Via::link;
    const rtmsg route{.rtm_family = AF_INET,
                      .rtm_table = RT_TABLE_MAIN,
                      .rtm_protocol = RTPROT_BOOT,
                      .rtm_scope = static_cast<std::uint8_t>(on_link ? RT_SCOPE_LINK : RT_SCOPE_UNIVERSE),
                      .rtm_type = RTN_UNICAST};
    batch.begin(RTM_NEWROUTE, kNew, bytes_of(route));
    batch.attr(RTA_OIF, index);
    if (!on_link) batch.attr_be(RTA_GATEWAY, kGatewayAddress);
    batch.attr_be(RTA_PREFSRC, kOwnAddress);
    batch.end();
}

void send(const NetlinkBatch& batch) {
    send_netlink(NETLINK_ROUTE, batch, batch.messages());
}

void bring_up_gateway(const char* name) {
    const std::uint32_t index = index_of(name);
    NetlinkBatch batch;
    add_address(batch, index, kGatewayAddress, kGatewayPrefix);
    add_link_up(batch, index);
    send(batch);
}

ifreq request_for(std::string_view name) {
    ifreq request{};
    std::ranges::copy(name, request.ifr_name);
    return request;
}

}  // namespace

void bring_up_loopback() {
    in("set up lo", [] {
        NetlinkBatch batch;
        add_link_up(batch, kLoopbackIndex);
        add_address(batch, kLoopbackIndex, kOwnAddress, 32);
        add_default_route(batch, kLoopbackIndex, Via::link);
        send(batch);
    });
}

Fd open_tap(const char* name, const MacAddress& address) {
    Fd tap{sys(::open("/dev/net/tun", O_RDWR | O_CLOEXEC | O_NONBLOCK), "open /dev/net/tun")};
    ifreq request = request_for(name);
    request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
    sys(::ioctl(tap.get(), TUNSETIFF, &request), "TUNSETIFF");
    request = request_for(name);
    request.ifr_hwaddr.sa_family = ARPHRD_ETHER;
    std::ranges::copy(address, request.ifr_hwaddr.sa_data);
    sys(::ioctl(tap.get(), SIOCSIFHWADDR, &request), "SIOCSIFHWADDR");
    return tap;
}

Fd make_tap() {
    return in("set up a tap", [] {
        Fd tap = open_tap(kTapName, kGatewayMac);
        bring_up_gateway(kTapName);
        return tap;
    });
}

void make_veth(int inner) {
    in("set up a veth", [&] {
        NetlinkBatch batch;
        const ifinfomsg end{.ifi_family = AF_UNSPEC};
        batch.begin(RTM_NEWLINK, kNew, bytes_of(end));
        batch.attr_text(IFLA_IFNAME, kOuterName);
        batch.attr(IFLA_ADDRESS, std::as_bytes(std::span{kGatewayMac}));
        const std::size_t info = batch.open(IFLA_LINKINFO);
        batch.attr_text(IFLA_INFO_KIND, "veth");
        const std::size_t data = batch.open(IFLA_INFO_DATA);
        const std::size_t peer = batch.open(VETH_INFO_PEER);
        batch.raw(bytes_of(end));
        batch.attr_text(IFLA_IFNAME, kInnerName);
        batch.attr(IFLA_ADDRESS, std::as_bytes(std::span{kOwnMac}));
        batch.attr(IFLA_NET_NS_FD, static_cast<std::uint32_t>(inner));
        batch.close(peer);
        batch.close(data);
        batch.close(info);
        batch.end();
        send(batch);
        bring_up_gateway(kOuterName);
    });
}

void bring_up_inner_end() {
    in("set up eth0", [] {
        const std::uint32_t index = index_of(kInnerName);
        NetlinkBatch batch;
        add_link_up(batch, kLoopbackIndex);
        add_address(batch, index, kOwnAddress, kGatewayPrefix);
        add_link_up(batch, index);
        add_default_route(batch, index, Via::gateway);
        send(batch);
    });
}

}  // namespace oyat::netns
