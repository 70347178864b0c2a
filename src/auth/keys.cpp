#include "auth/keys.hpp"

#include <algorithm>
#include <utility>

#include "auth/sha256.hpp"
#include "base/id.hpp"
#include "base/throwing.hpp"

namespace oyat::auth {
namespace {

constexpr std::size_t kLongestKey = 256;
constexpr int kFailuresAMinute = 10;
constexpr std::size_t kMostPeers = 16'384;

}  // namespace

Keys::Keys(const Clock& clock, core::Store& store, KeyRate rate)
    : clock_{clock}, store_{store}, rate_{rate} {}

Task<> Keys::load() {
    for (core::KeyRecord& key : co_await store_.load_keys()) {
        std::string hash = key.hash;
        by_hash_.insert_or_assign(std::move(hash), std::move(key));
    }
}

// A good key is let in even from an address with many failures, or one bad client behind a shared address
// could lock out all others. With 160 random bits a key is not guessed; the limit keeps guessers from being a
// load.
Result<core::Principal> Keys::authenticate(const std::string& key, const std::string& peer) {
    if (!key.empty() && key.size() <= kLongestKey) {
        const auto found = by_hash_.find(sha256_hex(key));
        if (found != by_hash_.end() && !found->second.revoked) {
            const core::KeyRecord& record = found->second;
            return core::Principal{.key_id = record.id, .tenant = record.tenant, .scopes = record.scopes};
        }
    }
    if (too_many_failures(peer))
        return refuse(Errc::exhausted, "too many wrong API keys from this address; wait a minute");
    return std::unexpected{Error{Errc::denied, Fault::client,
                                 key.empty() ? "an API key is needed" : "this API key is not valid"}};
}

bool Keys::too_many_failures(const std::string& peer) {
    const MonoTime now = clock_.mono();
    const auto over = [now](const Failures& failures) {
        return now - failures.since >= std::chrono::minutes{1};
    };
    if (failures_.size() >= kMostPeers && !failures_.contains(peer)) {
        std::erase_if(failures_, [&](const auto& entry) { return over(entry.second); });
        if (failures_.size() >= kMostPeers)
            return true;  // a flood from everywhere: count no more, answer 429
    }
    Failures& failures = failures_[peer];
    if (failures.count == 0 || over(failures)) failures = {.since = now, .count = 0};
    if (failures.count >= kFailuresAMinute) return true;
    // The minute of waiting starts with the failure that filled the measure.
    if (++failures.count == kFailuresAMinute) failures.since = now;
    return false;
}

Keys::Requests& Keys::requests_of(const std::string& key_id) {
    const auto found = requests_.find(key_id);
    if (found != requests_.end()) return found->second;
    const MonoTime now = clock_.mono();
    return requests_
        .emplace(key_id, Requests{.allowed = {rate_.per_second, rate_.burst, now}, .recorded = {1, 1, now}})
        .first->second;
}

Result<void> Keys::admit(const std::string& key_id) {
    if (requests_of(key_id).allowed.take(clock_.mono())) return {};
    return std::unexpected{Error{Errc::exhausted, Fault::limit,
                                 "more than " + std::to_string(rate_.per_second) +
                                     " requests a second with this key; try again in a moment, or raise "
                                     "tenant.requests_per_second"}
                               .of_limit(kRequestRate)};
}

bool Keys::worth_recording(const std::string& key_id) {
    return requests_of(key_id).recorded.take(clock_.mono());
}

Task<Keys::NewKey> Keys::create(std::string name, std::string tenant, std::uint8_t scopes) {
    NewKey made{.key = "e2b_" + random_hex(20), .record = {}};
    made.record = {.id = "key_" + random_hex(4),
                   .hash = sha256_hex(made.key),
                   .name = std::move(name),
                   .tenant = std::move(tenant),
                   .scopes = scopes,
                   .created = clock_.wall()};
    co_await keep(made.record);
    co_return made;
}

Task<> Keys::ensure(std::string key, std::string name, std::string tenant, std::uint8_t scopes) {
    if (key.size() < 20 || key.size() > kLongestKey) {
        throw Error{Errc::invalid_argument, Fault::oyat_operator, "an API key has 20 to 256 characters"};
    }
    std::string hash = sha256_hex(key);
    const auto found = by_hash_.find(hash);
    core::KeyRecord record = found != by_hash_.end() ? found->second : core::KeyRecord{};
    if (!record.id.empty() && !record.revoked && record.tenant == tenant && record.scopes == scopes)
        co_return;
    if (record.id.empty())
        record = {.id = "key_" + random_hex(4), .hash = std::move(hash), .created = clock_.wall()};
    record.name = std::move(name);
    record.tenant = std::move(tenant);
    record.scopes = scopes;
    record.revoked = false;
    co_await keep(std::move(record));
}

bool Keys::knows(std::string_view key) const {
    return !key.empty() && key.size() <= kLongestKey && by_hash_.contains(sha256_hex(std::string{key}));
}

std::vector<core::KeyRecord> Keys::list(const std::string& tenant) const {
    std::vector<core::KeyRecord> keys;
    for (const auto& [hash, record] : by_hash_) {
        if (record.tenant == tenant) keys.push_back(record);
    }
    std::ranges::sort(keys, {}, &core::KeyRecord::created);
    return keys;
}

std::set<std::string> Keys::tenants() const {
    std::set<std::string> tenants;
    for (const auto& [hash, record] : by_hash_) tenants.insert(record.tenant);
    return tenants;
}

Task<> Keys::revoke(std::string id, std::string tenant) {
    const auto found = std::ranges::find_if(
        by_hash_, [&](const auto& entry) { return entry.second.id == id && entry.second.tenant == tenant; });
    if (found == by_hash_.end()) throw Error{Errc::not_found, "there is no key " + id};
    found->second.revoked = true;  // at once; the store follows
    co_await keep(found->second);
}

// Usable only once it is stored: a key that was shown works after a restart too.
Task<> Keys::keep(core::KeyRecord record) {
    co_await store_.save_key(record);
    std::string hash = record.hash;
    by_hash_.insert_or_assign(std::move(hash), std::move(record));
}

}  // namespace oyat::auth
