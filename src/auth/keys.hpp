#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "core/principal.hpp"
#include "core/store.hpp"

namespace oyat::auth {

// API keys: "e2b_" + 40 hex (the form that older clients insist on). Only SHA-256 hashes are kept. Look-up is
// by hash, so its time says nothing of the key; after ten failures in a minute from one address, further ones
// are told to wait.
class Keys {
public:
    Keys(const Clock& clock, core::Store& store);

    Task<> load();
    // `peer` is the client's address. denied: no such key, or revoked. exhausted: the same, too many times.
    [[nodiscard]] Result<core::Principal> authenticate(const std::string& key, const std::string& peer);

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

    const Clock& clock_;
    core::Store& store_;
    std::map<std::string, core::KeyRecord> by_hash_;
    std::map<std::string, Failures> failures_;
};

}  // namespace oyat::auth
