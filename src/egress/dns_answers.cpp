#include "egress/dns_answers.hpp"

#include <algorithm>

#include "egress/name_rules.hpp"

namespace oyat::egress::dns {
namespace {

constexpr int kMaxAliases = 8;
constexpr std::size_t kMaxRecords = 64;
constexpr std::uint32_t kShortestTtl = 30, kLongestTtl = 300;

IpAddress address_in(const Record& record) {
    std::uint32_t value = 0;
    for (const char byte : record.data) value = value << 8 | static_cast<std::uint8_t>(byte);
    return IpAddress::v4(value);
}

const Record* find_alias(const Reply& reply, const WireName& owner) {
    const auto found = std::ranges::find_if(reply.answers, [&](const Record& record) {
        return record.type == Type::cname && same_name(record.name, owner);
    });
    return found == reply.answers.end() ? nullptr : &*found;
}

}  // namespace

std::uint32_t clamped_ttl(std::uint32_t ttl) {
    return std::clamp(ttl, kShortestTtl, kLongestTtl);
}

Result<Selection> select_answers(const Question& question, const Reply& reply,
                                 const Destinations& destinations) {
    if (!same_name(reply.question.name, question.name) || reply.question.type != question.type) {
        return refuse(Errc::invalid_argument, "the reply answers another question");
    }
    Selection selection;
    const auto give = [&](Record record) {
        record.ttl = clamped_ttl(record.ttl);
        selection.records.push_back(std::move(record));
    };
    WireName owner = question.name;
    for (int aliases = 0; question.type != Type::cname; ++aliases) {
        const Record* alias = find_alias(reply, owner);
        if (alias == nullptr) break;
        if (aliases == kMaxAliases) return refuse(Errc::invalid_argument, "too many aliases");
        if (!is_askable(to_text(alias->data))) return Selection{.withheld = 1};
        give(*alias);
        owner = alias->data;
    }
    for (const Record& record : reply.answers) {
        if (record.type != question.type || !same_name(record.name, owner)) continue;
        if (selection.records.size() == kMaxRecords) break;
        if (record.type == Type::a) {
            const IpAddress address = address_in(record);
            if (!destinations.may_be_told(address)) {
                ++selection.withheld;
                continue;
            }
            selection.addresses.push_back(address);
        }
        give(record);
    }
    return selection;
}

}  // namespace oyat::egress::dns
