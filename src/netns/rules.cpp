#include "netns/rules.hpp"

#include <linux/netfilter/nf_conntrack_common.h>
#include <netinet/in.h>

#include <string_view>

#include "base/throwing.hpp"
#include "netns/netlink.hpp"
#include "netns/rule_batch.hpp"

namespace oyat::netns {
namespace {

constexpr std::string_view kReplacedMark = "oyat-replaced";  // an empty table
constexpr std::string_view kLocal = "local";
constexpr std::string_view kSort = "sort";
constexpr std::string_view kTurn = "turn";
constexpr std::string_view kGuard = "guard";
constexpr std::string_view kPass = "pass";

constexpr std::int32_t kBeforeTracking = -300;
constexpr std::int32_t kBeforeTurning = -150;
constexpr std::int32_t kTurning = -100;

constexpr std::uint64_t kNewFlowsPerSecond = 2000;
constexpr std::uint32_t kNewFlowsAtOnce = 4000;
constexpr std::uint16_t kDnsOutside = 53;

// Of enum ip_conntrack_info, as the `ct state` of rules counts them.
constexpr std::uint32_t state_bit(unsigned info) {
    return 1U << (info % IP_CT_IS_REPLY + 1);
}

// What a listener of ours sends back: its address must be translated again on the way.
void keep_tracked(RuleBatch& batch, std::uint8_t protocol, std::uint16_t port) {
    batch.rule(kLocal, [&] {
        batch.match_from(INADDR_LOOPBACK);
        batch.match_protocol(protocol);
        batch.match_source_port(port);
        batch.verdict(NF_ACCEPT);
    });
}

template <class Action>
void for_own_destinations(RuleBatch& batch, std::string_view chain, Action&& action) {
    batch.rule(chain, [&] {
        batch.match_to_loopback();
        action();
    });
    batch.rule(chain, [&] {
        batch.match_to(kOwnAddress);
        action();
    });
}

template <class Action>
void for_dns(RuleBatch& batch, std::string_view chain, std::uint8_t protocol, Action&& action) {
    batch.rule(chain, [&] {
        batch.match_protocol(protocol);
        batch.match_destination_port(kDnsOutside);
        action();
    });
}

void add_turn(RuleBatch& batch, std::uint32_t hook, RedirectPorts ports) {
    batch.chain(kTurn, "nat", hook, kTurning, NF_ACCEPT);
    batch.rule(kTurn, [&] {
        batch.match_above_rate(kNewFlowsPerSecond, kNewFlowsAtOnce);
        batch.verdict(NF_DROP);
    });
    for_dns(batch, kTurn, IPPROTO_UDP, [&] { batch.redirect(ports.dns_udp); });
    for_dns(batch, kTurn, IPPROTO_TCP, [&] { batch.redirect(ports.dns_tcp); });
    batch.rule(kTurn, [&] {
        batch.match_protocol(IPPROTO_TCP);
        batch.redirect(ports.proxy);
    });
}

void add_for_inmates(RuleBatch& batch, RedirectPorts ports) {
    batch.chain(kLocal, "filter", NF_INET_LOCAL_OUT, kBeforeTracking, NF_ACCEPT);
    keep_tracked(batch, IPPROTO_TCP, ports.proxy);
    keep_tracked(batch, IPPROTO_UDP, ports.dns_udp);
    keep_tracked(batch, IPPROTO_TCP, ports.dns_tcp);
    for_own_destinations(batch, kLocal, [&] { batch.do_not_track(); });

    add_turn(batch, NF_INET_LOCAL_OUT, ports);

    batch.chain(kGuard, "filter", NF_INET_LOCAL_OUT, 0, NF_DROP);
    for_own_destinations(batch, kGuard, [&] { batch.verdict(NF_ACCEPT); });
}

void add_for_link(RuleBatch& batch, RedirectPorts ports) {
    batch.chain(kSort, "filter", NF_INET_PRE_ROUTING, kBeforeTurning, NF_ACCEPT);
    batch.rule(kSort, [&] {
        batch.match_reply();
        batch.verdict(NF_ACCEPT);
    });
    for_dns(batch, kSort, IPPROTO_UDP, [&] { batch.verdict(NF_ACCEPT); });
    for_dns(batch, kSort, IPPROTO_TCP, [&] { batch.verdict(NF_ACCEPT); });
    batch.rule(kSort, [&] {
        batch.match_to(kGatewayAddress, RuleBatch::Is::other);
        batch.match_protocol(IPPROTO_TCP);
        batch.verdict(NF_ACCEPT);
    });
    batch.rule(kSort, [&] {
        batch.match_protocol(IPPROTO_TCP);
        batch.reset_tcp();
    });
    batch.rule(kSort, [&] { batch.port_unreachable(); });

    add_turn(batch, NF_INET_PRE_ROUTING, ports);

    batch.chain(kGuard, "filter", NF_INET_LOCAL_IN, 0, NF_DROP);
    batch.rule(kGuard, [&] {
        batch.match_tracked(NFT_CT_STATE, state_bit(IP_CT_ESTABLISHED) | state_bit(IP_CT_RELATED));
        batch.verdict(NF_ACCEPT);
    });
    batch.rule(kGuard, [&] {
        batch.match_tracked(NFT_CT_STATUS, IPS_DST_NAT);
        batch.verdict(NF_ACCEPT);
    });
    batch.chain(kPass, "filter", NF_INET_FORWARD, 0, NF_DROP);
}

void add_table(RuleBatch& batch, Shape shape, RedirectPorts ports) {
    batch.table(NFT_MSG_NEWTABLE, NLM_F_CREATE);
    if (shape == Shape::loopback) {
        add_for_inmates(batch, ports);
    } else {
        add_for_link(batch, ports);
    }
}

}  // namespace

void install_rules(Shape shape, RedirectPorts ports) {
    in("install packet rules", [&] {
        RuleBatch batch;
        add_table(batch, shape, ports);
        batch.send();
    });
}

void replace_rules(Shape shape, RedirectPorts ports) {
    in("replace packet rules", [&] {
        RuleBatch batch;
        batch.table(NFT_MSG_DELTABLE, 0);
        add_table(batch, shape, ports);
        batch.table(NFT_MSG_NEWTABLE, NLM_F_CREATE, kReplacedMark);
        batch.send();
    });
}

bool rules_were_replaced() {
    NetlinkBatch question;
    const nfgenmsg header{.nfgen_family = NFPROTO_IPV4, .version = NFNETLINK_V0, .res_id = 0};
    question.begin(nft_message_type(NFT_MSG_GETTABLE), NLM_F_ACK, bytes_of(header));
    question.attr_text(NFTA_TABLE_NAME, kReplacedMark);
    question.end();
    try {
        send_netlink(NETLINK_NETFILTER, question, 1);
        return true;
    } catch (const Error& e) {
        if (e.code() == Errc::not_found) return false;
        throw;
    }
}

}  // namespace oyat::netns
