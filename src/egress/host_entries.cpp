#include "egress/host_entries.hpp"

#include "egress/name_rules.hpp"

namespace oyat::egress {
namespace {

constexpr std::size_t kMaxEntries = 1024;
constexpr std::size_t kMaxAddresses = 16;
constexpr std::uint32_t kTtl = 60;

std::string bytes_of(const IpAddress& address) {
    return {address.bytes().begin() + 12, address.bytes().end()};
}

Result<std::vector<IpAddress>> parse_addresses(const std::vector<std::string>& texts) {
    if (texts.empty() || texts.size() > kMaxAddresses) {
        return refuse(Errc::invalid_argument, "between 1 and 16 addresses are expected");
    }
    std::vector<IpAddress> addresses;
    for (const std::string& text : texts) {
        const Result<IpAddress> address = IpAddress::parse(text);
        if (!address || !address->is_v4()) {
            return refuse(Errc::invalid_argument, "'" + text + "' is not an IPv4 address");
        }
        addresses.push_back(*address);
    }
    return addresses;
}

}  // namespace

Result<HostEntries> HostEntries::parse(const std::map<std::string, std::vector<std::string>>& entries) {
    if (entries.size() > kMaxEntries) return refuse(Errc::invalid_argument, "more than 1024 names");
    HostEntries parsed;
    for (const auto& [name, texts] : entries) {
        const Result<dns::WireName> wire = dns::to_wire(name);
        if (!wire || dns::to_text(*wire) != name || name.size() > kMaxNameBytes) {
            return refuse(Errc::invalid_argument, "'" + name + "' is not a lower-case host name");
        }
        if (!is_askable(name)) return refuse(Errc::invalid_argument, "'" + name + "' is never answered");
        Result<std::vector<IpAddress>> addresses = parse_addresses(texts);
        if (!addresses) return std::unexpected{std::move(addresses).error().in(name)};
        parsed.entries_.emplace(name, *std::move(addresses));
    }
    return parsed;
}

std::optional<dns::Reply> HostEntries::reply_to(const dns::Question& question,
                                                const std::string& name) const {
    const auto entry = entries_.find(name);
    if (entry == entries_.end()) return std::nullopt;
    dns::Reply reply{.question = question};
    if (question.type != dns::Type::a) return reply;
    for (const IpAddress& address : entry->second) {
        reply.answers.push_back({question.name, dns::Type::a, kTtl, bytes_of(address)});
    }
    return reply;
}

}  // namespace oyat::egress
