#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "core/admission.hpp"
#include "core/principal.hpp"
#include "core/store.hpp"

namespace oyat::auth {

// The limit that Keys::admit() names.
inline constexpr const char* kRequestRate = "requests";

// How many requests each key may make.
struct KeyRate {
    std::uint32_t per_second = 200;
    std::uint32_t burst = 1'000;
};

// API keys: "e2b_" + 40 hex (the form that older clients insist on). Only SHA-256 hashes are kept. Look-up is
// by hash, so its time says nothing of the key; after ten failures in a minute from one address, further ones
// are told to wait.
class Keys {
public:
    Keys(const Clock& clock, core::Store& store, KeyRate rate = {});

    Task<> load();
    // `peer` is the client's address. denied: no such key, or revoked. exhausted: the same, too many times.
    [[nodiscard]] Result<core::Principal> authenticate(const std::string& key, const std::string& peer);

    // One more request with a key that was let in. `exhausted` when there were too many.
    [[nodiscard]] Result<void> admit(const std::string& key_id);
    // Whether a refusal of admit() is the first in a second: the record is not to be flooded with them.
    [[nodiscard]] bool worth_recording(const std::string& key_id);

    struct NewKey {
        std::string key;  // shown once
        core::KeyRecord record;
    };
    Task<NewKey> create(std::string name, std::string tenant, std::uint8_t scopes);
    // Makes sure that exactly this key exists (scripts and `oyat up` bring their own).
    Task<> ensure(std::string key, std::string name, std::string tenant, std::uint8_t scopes);
    // Whether this is a key of this server, a revoked one too; counts no failure.
    [[nodiscard]] bool knows(std::string_view key) const;
    [[nodiscard]] std::vector<core::KeyRecord> list(const std::string& tenant) const;
    [[nodiscard]] std::set<std::string> tenants() const;  // that have, or had, a key
    Task<> revoke(std::string id, std::string tenant);    // not_found

private:
    struct Failures {
        MonoTime since{};
        int count = 0;
    };
    [[nodiscard]] bool too_many_failures(const std::string& peer);  // counts this one
    Task<> keep(core::KeyRecord record);
    struct Requests {
        core::TokenBucket allowed;
        core::TokenBucket recorded;  // of the refusals
    };
    [[nodiscard]] Requests& requests_of(const std::string& key_id);

    const Clock& clock_;
    core::Store& store_;
    const KeyRate rate_;
    std::map<std::string, Requests> requests_;  // by the id of a key that was let in
    std::map<std::string, core::KeyRecord> by_hash_;
    std::map<std::string, Failures> failures_;
};

}  // namespace oyat::auth
