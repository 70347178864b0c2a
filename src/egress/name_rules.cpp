#include "egress/name_rules.hpp"

#include <algorithm>
#include <array>

namespace oyat::egress {
namespace {

using dns::Type;
using Action = NameVerdict::Action;

constexpr std::uint16_t kClassIn = 1;
constexpr std::string_view kReverseV4 = ".in-addr.arpa", kReverseV6 = ".ip6.arpa";

// Their addresses are withheld anyway; the names are, so that the record shows what was tried.
constexpr std::array<std::string_view, 4> kMetadataNames{
    "metadata.google.internal", "metadata.goog", "instance-data.ec2.internal", "metadata.azure.internal"};

// Kept for oyat's own API inside, which nobody outside may answer for.
constexpr std::string_view kReserved = "oyat.internal";

bool is_within(std::string_view name, std::string_view domain) {
    if (!name.ends_with(domain)) return false;
    return name.size() == domain.size() || name[name.size() - domain.size() - 1] == '.';
}

bool is_metadata_name(std::string_view name) {
    return std::ranges::any_of(kMetadataNames,
                               [&](std::string_view known) { return is_within(name, known); });
}

bool is_own_name(std::string_view name, std::string_view own) {
    return is_within(name, "localhost") || (!own.empty() && name == own);
}

// "9.9.9.10.in-addr.arpa" stands for 10.9.9.9. Nothing for whole zones ("10.in-addr.arpa").
std::optional<IpAddress> reversed_address(std::string_view name) {
    name.remove_suffix(kReverseV4.size());
    std::string forward;
    while (!name.empty()) {
        const std::size_t dot = name.rfind('.');
        if (!forward.empty()) forward += '.';
        forward += name.substr(dot == std::string_view::npos ? 0 : dot + 1);
        name = name.substr(0, dot == std::string_view::npos ? 0 : dot);
    }
    const Result<IpAddress> address = IpAddress::parse(forward);
    if (!address || !address->is_v4()) return std::nullopt;
    return *address;
}

// What an address inside the company is called is no sandbox's business.
NameVerdict judge_reverse(std::string_view name, const Destinations& destinations) {
    if (name.ends_with(kReverseV6)) return {Action::blocked, "reverse-name"};
    const std::optional<IpAddress> address = reversed_address(name);
    if (!address || !destinations.may_be_told(*address)) return {Action::blocked, "reverse-name"};
    return {};
}

NameVerdict judge_type(Type type) {
    switch (type) {
        case Type::a:
        case Type::cname:
        case Type::mx:
        case Type::txt:
        case Type::srv:
        case Type::ptr: return {};
        // No way out over IPv6, and HTTPS records would bring QUIC hints and keys that hide names.
        case Type::aaaa:
        case Type::https:
        case Type::svcb: return {Action::empty, ""};
        default: return {Action::refused, "type"};
    }
}

}  // namespace

bool is_askable(std::string_view name) {
    return !name.empty() && !is_own_name(name, "") && !is_metadata_name(name) && !is_within(name, kReserved);
}

NameVerdict judge_name(const dns::Query& query, std::string_view own_name, const policy::Policy& policy,
                       const Destinations& destinations, WallTime now) {
    if (query.opcode != 0) return {Action::unknown_operation, ""};
    if (query.question.klass != kClassIn) return {Action::refused, "class"};
    const std::string name = dns::to_text(query.question.name);
    if (name.find('\\') != std::string::npos) return {Action::refused, "characters"};
    if (name.size() > kMaxNameBytes) return {Action::refused, "length"};
    if (is_own_name(name, own_name))
        return {query.question.type == Type::a ? Action::own : Action::empty, ""};
    if (is_metadata_name(name)) return {Action::blocked, "always-deny:metadata"};
    if (is_within(name, kReserved)) return {Action::blocked, "reserved"};
    if (const policy::Decision decision = policy::decide_name(policy, name, now);
        decision.action == policy::Action::deny) {
        return {Action::blocked, decision.rule};
    }
    if (name.ends_with(kReverseV4) || name.ends_with(kReverseV6)) {
        if (const NameVerdict verdict = judge_reverse(name, destinations); verdict.action != Action::ask) {
            return verdict;
        }
    }
    return judge_type(query.question.type);
}

}  // namespace oyat::egress
