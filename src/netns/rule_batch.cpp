#include "netns/rule_batch.hpp"

#include <linux/netfilter/nf_conntrack_tuple_common.h>
#include <netinet/in.h>
#include <netinet/ip_icmp.h>

namespace oyat::netns {
namespace {

constexpr std::uint32_t kSourceAddress = 12;  // offsets in the IPv4 header
constexpr std::uint32_t kDestinationAddress = 16;
constexpr std::uint32_t kSourcePort = 0;  // offsets in the TCP and UDP headers
constexpr std::uint32_t kDestinationPort = 2;

}  // namespace

template <class T>
void RuleBatch::value(std::uint16_t type, T bytes) {
    const std::size_t data = batch_.open(type);
    batch_.attr(NFTA_DATA_VALUE, bytes_of(bytes));
    batch_.close(data);
}

template <class T>
void RuleBatch::compare(T expected, Is is) {
    expression("cmp", [&] {
        batch_.attr_be(NFTA_CMP_SREG, NFT_REG_1);
        batch_.attr_be(NFTA_CMP_OP, static_cast<std::uint32_t>(is));
        value(NFTA_CMP_DATA, expected);
    });
}

RuleBatch::RuleBatch() {
    mark(NFNL_MSG_BATCH_BEGIN);
}

void RuleBatch::table(std::uint16_t message, std::uint16_t flags, std::string_view name) {
    begin(message, flags);
    batch_.attr_text(NFTA_TABLE_NAME, name);
    batch_.end();
}

void RuleBatch::chain(std::string_view name, std::string_view type, std::uint32_t hook, std::int32_t priority,
                      std::uint32_t policy) {
    begin(NFT_MSG_NEWCHAIN, NLM_F_CREATE);
    batch_.attr_text(NFTA_CHAIN_TABLE, kTable);
    batch_.attr_text(NFTA_CHAIN_NAME, name);
    const std::size_t where = batch_.open(NFTA_CHAIN_HOOK);
    batch_.attr_be(NFTA_HOOK_HOOKNUM, hook);
    batch_.attr_be(NFTA_HOOK_PRIORITY, static_cast<std::uint32_t>(priority));
    batch_.close(where);
    batch_.attr_be(NFTA_CHAIN_POLICY, policy);
    batch_.attr_text(NFTA_CHAIN_TYPE, type);
    batch_.end();
}

void RuleBatch::rule(std::string_view chain, const std::function<void()>& expressions) {
    begin(NFT_MSG_NEWRULE, NLM_F_CREATE | NLM_F_APPEND);
    batch_.attr_text(NFTA_RULE_TABLE, kTable);
    batch_.attr_text(NFTA_RULE_CHAIN, chain);
    const std::size_t list = batch_.open(NFTA_RULE_EXPRESSIONS);
    expressions();
    batch_.close(list);
    batch_.end();
}

void RuleBatch::match_from(std::uint32_t address) {
    load(NFT_PAYLOAD_NETWORK_HEADER, kSourceAddress, 4);
    compare(::htonl(address));
}

void RuleBatch::match_to(std::uint32_t address, Is is) {
    load(NFT_PAYLOAD_NETWORK_HEADER, kDestinationAddress, 4);
    compare(::htonl(address), is);
}

void RuleBatch::match_to_loopback() {
    load(NFT_PAYLOAD_NETWORK_HEADER, kDestinationAddress, 1);
    compare(std::uint8_t{127});
}

void RuleBatch::match_protocol(std::uint8_t protocol) {
    expression("meta", [&] {
        batch_.attr_be(NFTA_META_DREG, NFT_REG_1);
        batch_.attr_be(NFTA_META_KEY, NFT_META_L4PROTO);
    });
    compare(protocol);
}

void RuleBatch::match_source_port(std::uint16_t port) {
    load(NFT_PAYLOAD_TRANSPORT_HEADER, kSourcePort, 2);
    compare(::htons(port));
}

void RuleBatch::match_destination_port(std::uint16_t port) {
    load(NFT_PAYLOAD_TRANSPORT_HEADER, kDestinationPort, 2);
    compare(::htons(port));
}

void RuleBatch::match_above_rate(std::uint64_t per_second, std::uint32_t at_once) {
    expression("limit", [&] {
        batch_.attr_be64(NFTA_LIMIT_RATE, per_second);
        batch_.attr_be64(NFTA_LIMIT_UNIT, 1);
        batch_.attr_be(NFTA_LIMIT_BURST, at_once);
        batch_.attr_be(NFTA_LIMIT_TYPE, NFT_LIMIT_PKTS);
        batch_.attr_be(NFTA_LIMIT_FLAGS, NFT_LIMIT_F_INV);
    });
}

void RuleBatch::match_reply() {
    load_tracked(NFT_CT_DIRECTION);
    compare(static_cast<std::uint8_t>(IP_CT_DIR_REPLY));
}

void RuleBatch::match_tracked(std::uint32_t key, std::uint32_t any_of) {
    load_tracked(key);
    expression("bitwise", [&] {
        batch_.attr_be(NFTA_BITWISE_SREG, NFT_REG_1);
        batch_.attr_be(NFTA_BITWISE_DREG, NFT_REG_1);
        batch_.attr_be(NFTA_BITWISE_LEN, sizeof any_of);
        value(NFTA_BITWISE_MASK, any_of);
        value(NFTA_BITWISE_XOR, std::uint32_t{0});
    });
    compare(std::uint32_t{0}, Is::other);
}

void RuleBatch::verdict(std::uint32_t code) {
    expression("immediate", [&] {
        batch_.attr_be(NFTA_IMMEDIATE_DREG, NFT_REG_VERDICT);
        const std::size_t data = batch_.open(NFTA_IMMEDIATE_DATA);
        const std::size_t verdict = batch_.open(NFTA_DATA_VERDICT);
        batch_.attr_be(NFTA_VERDICT_CODE, code);
        batch_.close(verdict);
        batch_.close(data);
    });
}

void RuleBatch::do_not_track() {
    expression("notrack", [] {});
}

void RuleBatch::redirect(std::uint16_t port) {
    expression("immediate", [&] {
        batch_.attr_be(NFTA_IMMEDIATE_DREG, NFT_REG_1);
        value(NFTA_IMMEDIATE_DATA, ::htons(port));
    });
    expression("redir", [&] { batch_.attr_be(NFTA_REDIR_REG_PROTO_MIN, NFT_REG_1); });
}

void RuleBatch::reset_tcp() {
    reject(NFT_REJECT_TCP_RST, 0);
}

void RuleBatch::port_unreachable() {
    reject(NFT_REJECT_ICMP_UNREACH, ICMP_PORT_UNREACH);
}

void RuleBatch::send() {
    // One acknowledgement is enough: it comes when the whole transaction has been committed.
    table(NFT_MSG_NEWTABLE, NLM_F_CREATE | NLM_F_ACK);
    mark(NFNL_MSG_BATCH_END);
    send_netlink(NETLINK_NETFILTER, batch_, 1);
}

void RuleBatch::mark(std::uint16_t type) {
    const nfgenmsg header{
        .nfgen_family = AF_UNSPEC, .version = NFNETLINK_V0, .res_id = ::htons(NFNL_SUBSYS_NFTABLES)};
    batch_.begin(type, 0, bytes_of(header));
    batch_.end();
}

void RuleBatch::begin(std::uint16_t message, std::uint16_t flags) {
    const nfgenmsg header{.nfgen_family = NFPROTO_IPV4, .version = NFNETLINK_V0, .res_id = 0};
    batch_.begin(nft_message_type(message), flags, bytes_of(header));
}

void RuleBatch::expression(std::string_view name, const std::function<void()>& attributes) {
    const std::size_t element = batch_.open(NFTA_LIST_ELEM);
    batch_.attr_text(NFTA_EXPR_NAME, name);
    const std::size_t data = batch_.open(NFTA_EXPR_DATA);
    attributes();
    batch_.close(data);
    batch_.close(element);
}

void RuleBatch::load(std::uint32_t base, std::uint32_t offset, std::uint32_t length) {
    expression("payload", [&] {
        batch_.attr_be(NFTA_PAYLOAD_DREG, NFT_REG_1);
        batch_.attr_be(NFTA_PAYLOAD_BASE, base);
        batch_.attr_be(NFTA_PAYLOAD_OFFSET, offset);
        batch_.attr_be(NFTA_PAYLOAD_LEN, length);
    });
}

void RuleBatch::load_tracked(std::uint32_t key) {
    expression("ct", [&] {
        batch_.attr_be(NFTA_CT_DREG, NFT_REG_1);
        batch_.attr_be(NFTA_CT_KEY, key);
    });
}

void RuleBatch::reject(std::uint32_t type, std::uint8_t code) {
    expression("reject", [&] {
        batch_.attr_be(NFTA_REJECT_TYPE, type);
        batch_.attr(NFTA_REJECT_ICMP_CODE, bytes_of(code));
    });
}

}  // namespace oyat::netns
