#include "egress/tunnel_watch.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "base/sha256.hpp"
#include "egress/registered_domain.hpp"

namespace oyat::egress {
namespace {

constexpr std::size_t kLongLabel = 40;
constexpr std::size_t kEnoughToJudge = 20;
constexpr double kRandom = 4.0;  // bit a character

double entropy(std::string_view text) {
    std::array<int, 256> counts{};
    for (const char c : text) ++counts[static_cast<std::uint8_t>(c)];
    double bits = 0;
    for (const int count : counts) {
        if (count == 0) continue;
        const double share = static_cast<double>(count) / static_cast<double>(text.size());
        bits -= share * std::log2(share);
    }
    return bits;
}

// Hyphens do not count: they only put a number into groups.
std::size_t longest_hex(std::string_view text) {
    std::size_t longest = 0, run = 0;
    for (const char c : text) {
        if (c == '-') continue;
        const bool digit = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f');
        run = digit ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    return longest;
}

// Keyed by nothing, so it must be one for which nobody can find two names that count as one.
std::uint64_t digest_of(const std::string& name) {
    Sha256 hash;
    hash.update(name);
    const Sha256::Digest digest = hash.finish();
    std::uint64_t number = 0;
    std::memcpy(&number, digest.data(), sizeof number);
    return number;
}

}  // namespace

bool looks_like_data(std::string_view name, std::string_view registered_domain) {
    std::string_view front = name.substr(0, name.size() - registered_domain.size());
    std::string letters;
    while (!front.empty()) {
        const std::string_view label = front.substr(0, front.find('.'));
        if (label.size() > kLongLabel) return true;
        letters += label;
        front.remove_prefix(std::min(front.size(), label.size() + 1));
    }
    return (letters.size() >= kEnoughToJudge && entropy(letters) > kRandom) ||
           longest_hex(letters) >= kEnoughToJudge;
}

TunnelWatch::Verdict TunnelWatch::see(const std::string& name, MonoTime now) {
    const std::string domain = registered_domain(name);
    if (const auto known = domains_.find(domain); known != domains_.end() && known->second.refused) {
        return Verdict::refused;
    }
    if (!looks_like_data(name, domain)) return Verdict::pass;
    Domain* watch = watched(domain);
    // Every place is taken by a domain that was found to be a tunnel.
    if (watch == nullptr) return Verdict::refused;
    watch->names[digest_of(name)] = now;
    if (watch->names.size() <= kMaxNames) return Verdict::pass;
    std::erase_if(watch->names, [&](const auto& each) { return each.second + kWindow <= now; });
    if (watch->names.size() <= kMaxNames) return Verdict::pass;
    watch->names.clear();
    watch->refused = true;
    ++refused_;
    return Verdict::found;
}

// When there is no room for one more, the domain with the fewest names makes it: who fills the table with
// domains of one name each does not hide the one that is used.
TunnelWatch::Domain* TunnelWatch::watched(const std::string& domain) {
    if (const auto known = domains_.find(domain); known != domains_.end()) return &known->second;
    if (domains_.size() >= kMaxDomains) {
        if (refused_ == domains_.size()) return nullptr;
        domains_.erase(std::ranges::min_element(domains_, {}, [](const auto& each) {
            return each.second.refused ? kMaxNames + 1 : each.second.names.size();
        }));
    }
    return &domains_[domain];
}

}  // namespace oyat::egress
