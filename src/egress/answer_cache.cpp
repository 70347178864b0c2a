#include "egress/answer_cache.hpp"

#include <algorithm>

#include "egress/dns_answers.hpp"

namespace oyat::egress {
namespace {

// A single answer must not take the room of all others.
constexpr std::size_t kMaxReplyBytes = 8 * 1024;

std::size_t size_of(const dns::Reply& reply) {
    std::size_t bytes = sizeof reply + reply.question.name.size();
    for (const dns::Record& record : reply.answers) {
        bytes += sizeof record + record.name.size() + record.data.size();
    }
    return bytes;
}

std::chrono::seconds lifetime_of(const dns::Reply& reply) {
    const auto shortest = std::ranges::min_element(reply.answers, {}, &dns::Record::ttl);
    return std::chrono::seconds{dns::clamped_ttl(shortest->ttl)};
}

}  // namespace

void AnswerCache::keep(const std::string& name, const dns::Reply& reply, MonoTime now) {
    const std::size_t bytes = size_of(reply) + name.size() + sizeof(Entries::node_type);
    if (reply.rcode != dns::Rcode::ok || reply.answers.empty() || bytes > kMaxReplyBytes) return;
    const Key key{name, reply.question.type};
    if (const auto known = entries_.find(key); known != entries_.end()) {
        const auto [first, last] = by_end_.equal_range(known->second.until);
        drop(std::find_if(first, last, [&](const auto& place) { return place.second == known; }));
    }
    while (entries_.size() >= kMaxEntries || bytes_ + bytes > kMaxBytes) drop(by_end_.begin());
    const MonoTime until = now + lifetime_of(reply);
    const auto entry = entries_.emplace(key, Entry{reply, until, bytes}).first;
    by_end_.emplace(until, entry);
    bytes_ += bytes;
}

std::optional<AnswerCache::Found> AnswerCache::find(const std::string& name, dns::Type type,
                                                    MonoTime now) const {
    const auto known = entries_.find({name, type});
    if (known == entries_.end() || known->second.until <= now) return std::nullopt;
    return Found{&known->second.reply, std::chrono::ceil<std::chrono::seconds>(known->second.until - now)};
}

void AnswerCache::drop(ByEnd::iterator place) {
    bytes_ -= place->second->second.bytes;
    entries_.erase(place->second);
    by_end_.erase(place);
}

}  // namespace oyat::egress
