#include "egress/destinations.hpp"

#include <algorithm>
#include <charconv>

#include "base/throwing.hpp"

namespace oyat::egress {
namespace {

struct NamedRange {
    std::string_view range;
    Reach reach;
    std::string_view rule;
};

// The first line that fits decides. Documentation ranges (192.0.2.0/24, ...) are left out on purpose: private
// networks use them for gateways.
constexpr NamedRange kRanges[] = {
    {"0.0.0.0/8", Reach::never, "always-deny:this-network"},
    {"127.0.0.0/8", Reach::never, "always-deny:loopback"},
    {"169.254.0.0/16", Reach::never, "always-deny:link-local"},
    {"168.63.129.16", Reach::never, "always-deny:metadata"},
    {"100.100.100.200", Reach::never, "always-deny:metadata"},
    {"224.0.0.0/4", Reach::never, "always-deny:multicast"},
    {"240.0.0.0/4", Reach::never, "always-deny:reserved"},
    {"::", Reach::never, "always-deny:this-network"},
    {"::1", Reach::never, "always-deny:loopback"},
    {"fe80::/10", Reach::never, "always-deny:link-local"},
    {"ff00::/8", Reach::never, "always-deny:multicast"},
    {"fd00:ec2::254", Reach::never, "always-deny:metadata"},
    {"10.0.0.0/8", Reach::private_range, "private"},
    {"172.16.0.0/12", Reach::private_range, "private"},
    {"192.168.0.0/16", Reach::private_range, "private"},
    {"100.64.0.0/10", Reach::private_range, "private"},
    {"198.18.0.0/15", Reach::private_range, "private"},
    {"fc00::/7", Reach::private_range, "private"},
};

struct ParsedRange {
    Cidr range;
    Reach reach;
    std::string_view rule;
};

const std::vector<ParsedRange>& parsed_ranges() {
    static const std::vector<ParsedRange> ranges = [] {
        std::vector<ParsedRange> parsed;
        for (const NamedRange& line : kRanges) {
            parsed.push_back({or_throw(Cidr::parse(line.range)), line.reach, line.rule});
        }
        return parsed;
    }();
    return ranges;
}

Result<std::pair<IpAddress, std::uint16_t>> parse_opening(const std::string& text) {
    const std::size_t colon = text.rfind(':');
    if (colon != std::string::npos) {
        std::string_view host = std::string_view{text}.substr(0, colon);
        if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
        std::uint16_t port = 0;
        const char* end = text.data() + text.size();
        const auto [stop, problem] = std::from_chars(text.data() + colon + 1, end, port);
        if (Result<IpAddress> address = IpAddress::parse(host);
            address && problem == std::errc{} && stop == end && port != 0) {
            return std::pair{*address, port};
        }
    }
    return refuse(Errc::invalid_argument, "'" + text + "' is not one address and port");
}

}  // namespace

Result<OperatorOpenings> OperatorOpenings::parse(const std::vector<std::string>& reachable_private,
                                                 const std::vector<std::string>& open_always_deny) {
    OperatorOpenings openings;
    for (const std::string& text : reachable_private) {
        Result<Cidr> range = Cidr::parse(text);
        if (!range) return std::unexpected{std::move(range).error().in("reachable_private")};
        openings.reachable_private.push_back(*range);
    }
    for (const std::string& text : open_always_deny) {
        auto opening = parse_opening(text);
        if (!opening) return std::unexpected{std::move(opening).error().in("open_always_deny")};
        openings.always_deny.insert(*opening);
    }
    return openings;
}

policy::Ground OperatorOpenings::ground() const {
    policy::Ground ground{.closed = {}, .opened = reachable_private};
    for (const ParsedRange& line : parsed_ranges()) ground.closed.push_back(line.range);
    for (const auto& [address, port] : always_deny)
        ground.opened.push_back(or_throw(Cidr::parse(address.to_string())));
    return ground;
}

Destinations::Place Destinations::place_of(const IpAddress& address) const {
    for (const ParsedRange& line : parsed_ranges()) {
        if (line.reach == Reach::never && line.range.contains(address)) return {Reach::never, line.rule};
    }
    if (host_addresses_.contains(address)) return {Reach::never, "always-deny:host"};
    for (const ParsedRange& line : parsed_ranges()) {
        if (line.range.contains(address)) return {line.reach, line.rule};
    }
    return {Reach::open, "internet"};
}

bool Destinations::reachable_private(const IpAddress& address) const {
    return std::ranges::any_of(openings_.reachable_private,
                               [&](const Cidr& range) { return range.contains(address); });
}

Verdict Destinations::judge(const IpAddress& address, std::uint16_t port) const {
    const IpAddress target = address.unwrapped();
    if (openings_.always_deny.contains({target, port})) return {true, "open_always_deny"};
    const Place place = place_of(target);
    if (place.reach == Reach::never) return {false, place.rule};
    const bool opened = place.reach == Reach::private_range && reachable_private(target);
    if (place.reach == Reach::private_range && !opened) return {false, place.rule};
    if (port == 0) return {false, "port-zero"};
    return {true, opened ? "reachable_private" : place.rule};
}

bool Destinations::may_be_told(const IpAddress& address) const {
    const IpAddress target = address.unwrapped();
    const auto opening = openings_.always_deny.lower_bound({target, 0});
    if (opening != openings_.always_deny.end() && opening->first == target) return true;
    const Place place = place_of(target);
    return place.reach == Reach::open || (place.reach == Reach::private_range && reachable_private(target));
}

}  // namespace oyat::egress
