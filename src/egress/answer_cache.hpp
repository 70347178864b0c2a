#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "egress/dns_message.hpp"

namespace oyat::egress {

// What resolvers answered one sandbox, for as long as they said. Never shared between sandboxes: how fast an
// answer comes would tell one what another looks up (threats R-10). Whole replies are kept, so that each time
// they are given out they are judged by what holds then.
class AnswerCache {
public:
    static constexpr std::size_t kMaxEntries = 512;
    static constexpr std::size_t kMaxBytes = 256 * 1024;

    // Only answers with records are kept: without a zone's own word, "no such name" has no lifetime (RFC
    // 2308, 5).
    void keep(const std::string& name, const dns::Reply& reply, MonoTime now);

    struct Found {
        const dns::Reply* reply;    // until the next call
        std::chrono::seconds left;  // of its lifetime, at least one
    };
    [[nodiscard]] std::optional<Found> find(const std::string& name, dns::Type type, MonoTime now) const;

    [[nodiscard]] std::size_t size() const { return entries_.size(); }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
    using Key = std::pair<std::string, dns::Type>;
    struct Entry {
        dns::Reply reply;
        MonoTime until;
        std::size_t bytes = 0;
    };
    using Entries = std::map<Key, Entry>;
    using ByEnd = std::multimap<MonoTime, Entries::iterator>;

    void drop(ByEnd::iterator place);

    Entries entries_;
    ByEnd by_end_;
    std::size_t bytes_ = 0;
};

}  // namespace oyat::egress
