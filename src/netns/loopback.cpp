#include "netns/loopback.hpp"

#include <arpa/inet.h>
#include <linux/if_addr.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <sys/socket.h>

#include "base/throwing.hpp"
#include "netns/netlink.hpp"

namespace oyat::netns {
namespace {

constexpr std::uint32_t kLoopbackIndex = 1;  // the kernel gives 1 to `lo` in every namespace
constexpr std::uint16_t kNew = NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL;

void add_link_up(NetlinkBatch& batch) {
    const ifinfomsg link{
        .ifi_family = AF_UNSPEC, .ifi_index = kLoopbackIndex, .ifi_flags = IFF_UP, .ifi_change = IFF_UP};
    batch.begin(RTM_NEWLINK, NLM_F_ACK, bytes_of(link));
    batch.end();
}

void add_address(NetlinkBatch& batch) {
    const ifaddrmsg address{.ifa_family = AF_INET,
                            .ifa_prefixlen = 32,
                            .ifa_flags = IFA_F_PERMANENT,
                            .ifa_scope = RT_SCOPE_UNIVERSE,
                            .ifa_index = kLoopbackIndex};
    batch.begin(RTM_NEWADDR, kNew, bytes_of(address));
    batch.attr_be(IFA_LOCAL, kOwnAddress);
    batch.attr_be(IFA_ADDRESS, kOwnAddress);
    batch.end();
}

void add_default_route(NetlinkBatch& batch) {
    const rtmsg route{.rtm_family = AF_INET,
                      .rtm_table = RT_TABLE_MAIN,
                      .rtm_protocol = RTPROT_BOOT,
                      .rtm_scope = RT_SCOPE_LINK,
                      .rtm_type = RTN_UNICAST};
    batch.begin(RTM_NEWROUTE, kNew, bytes_of(route));
    batch.attr(RTA_OIF, kLoopbackIndex);
    batch.attr_be(RTA_PREFSRC, kOwnAddress);
    batch.end();
}

}  // namespace

void bring_up_loopback() {
    in("set up lo", [] {
        NetlinkBatch batch;
        add_link_up(batch);
        add_address(batch);
        add_default_route(batch);
        send_netlink(NETLINK_ROUTE, batch, batch.messages());
    });
}

}  // namespace oyat::netns
