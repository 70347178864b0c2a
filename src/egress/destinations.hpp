#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "io/ip_address.hpp"
#include "policy/review.hpp"

namespace oyat::egress {

// What the operator's file opens beyond the public internet.
struct OperatorOpenings {
    // "10.20.0.0/16": private ranges that sandboxes may reach.
    std::vector<Cidr> reachable_private;
    // Single doors in ranges that are otherwise never reachable: one address and port each.
    std::set<std::pair<IpAddress, std::uint16_t>> always_deny;

    // As documents are reviewed with.
    [[nodiscard]] policy::Ground ground() const;

    static Result<OperatorOpenings> parse(const std::vector<std::string>& reachable_private,
                                          const std::vector<std::string>& open_always_deny);
};

// How near an address is to us. `never` cannot be opened by any policy.
enum class Reach { open, private_range, never };

struct Verdict {
    bool allowed = false;
    std::string_view rule;  // "always-deny:link-local", "private", "internet", ...
};

// Decides where sandboxes may connect to. Pure: what it knows is given to it. `host_addresses` are all
// addresses of this machine, so that no sandbox reaches a service of its own host.
class Destinations {
public:
    explicit Destinations(OperatorOpenings openings) : openings_{std::move(openings)} {}

    void set_host_addresses(std::set<IpAddress> addresses) { host_addresses_ = std::move(addresses); }

    // For connections of a sandbox whose policy lets it out at all.
    [[nodiscard]] Verdict judge(const IpAddress& address, std::uint16_t port) const;
    // For the name server: may a sandbox be told this address? (Otherwise a name in an attacker's zone could
    // stand for an address inside, threats E-06.)
    [[nodiscard]] bool may_be_told(const IpAddress& address) const;

private:
    struct Place {
        Reach reach;
        std::string_view rule;
    };
    [[nodiscard]] Place place_of(const IpAddress& address) const;
    [[nodiscard]] bool reachable_private(const IpAddress& address) const;

    OperatorOpenings openings_;
    std::set<IpAddress> host_addresses_;
};

}  // namespace oyat::egress
