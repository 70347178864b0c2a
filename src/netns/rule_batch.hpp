#pragma once

#include <arpa/inet.h>  // before the kernel's own in.h
#include <linux/netfilter.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netlink.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string_view>

#include "netns/netlink.hpp"

namespace oyat::netns {

inline constexpr std::string_view kTable = "oyat";

constexpr std::uint16_t nft_message_type(std::uint16_t message) {
    return static_cast<std::uint16_t>((NFNL_SUBSYS_NFTABLES << 8) | message);
}

// One transaction of changes to the packet rules, in the kernel's own netlink form: 0.1 ms for a namespace,
// against 0.4 ms and a parser of text running as root with libnftables.
//
// A rule is a row of matches and then an action, all added by the body that rule() is given.
class RuleBatch {
public:
    RuleBatch();

    void table(std::uint16_t message, std::uint16_t flags, std::string_view name = kTable);
    // `hook` of NF_INET_*; `type` as nft calls it: filter, nat.
    void chain(std::string_view name, std::string_view type, std::uint32_t hook, std::int32_t priority,
               std::uint32_t policy);
    void rule(std::string_view chain, const std::function<void()>& expressions);

    enum class Is : std::uint8_t { equal = NFT_CMP_EQ, other = NFT_CMP_NEQ };
    void match_from(std::uint32_t address);
    void match_to(std::uint32_t address, Is is = Is::equal);
    // A loopback destination: the first byte of the address is 127.
    void match_to_loopback();
    void match_protocol(std::uint8_t protocol);
    void match_source_port(std::uint16_t port);
    void match_destination_port(std::uint16_t port);
    // Passes the packet on only if there were too many of its kind lately.
    void match_above_rate(std::uint64_t per_second, std::uint32_t at_once);
    // An answer within a tracked flow: to the side that began it.
    void match_reply();
    // Any of the bits of what connection tracking knows: `key` is NFT_CT_STATE or NFT_CT_STATUS.
    void match_tracked(std::uint32_t key, std::uint32_t any_of);

    void verdict(std::uint32_t code);
    void do_not_track();
    void redirect(std::uint16_t port);
    void reset_tcp();
    void port_unreachable();

    // Carries the transaction out, or throws and nothing has changed.
    void send();

private:
    void mark(std::uint16_t type);
    void begin(std::uint16_t message, std::uint16_t flags);
    void expression(std::string_view name, const std::function<void()>& attributes);
    void load(std::uint32_t base, std::uint32_t offset, std::uint32_t length);
    void load_tracked(std::uint32_t key);
    void reject(std::uint32_t type, std::uint8_t code);

    template <class T>
    void compare(T expected, Is is = Is::equal);
    template <class T>
    void value(std::uint16_t type, T bytes);

    NetlinkBatch batch_;
};

}  // namespace oyat::netns
