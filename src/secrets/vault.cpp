#include "secrets/vault.hpp"

#include <openssl/crypto.h>

#include <algorithm>

#include "base/defer.hpp"
#include "base/id.hpp"
#include "base/throwing.hpp"
#include "core/event_json.hpp"
#include "core/json_text.hpp"
#include "core/record_fields.hpp"
#include "policy/names.hpp"

namespace oyat::secrets {
namespace {

constexpr const char* kKind = "secret";
constexpr std::size_t kMaxMetadata = 16 * 1024;
constexpr std::size_t kMaxSecrets = 1'000;  // of one tenant
constexpr std::size_t kMaxHosts = 64;

std::string store_key(const Secret& secret) {
    return secret.tenant + "/" + secret.name;
}

void check_value(std::string_view value) {
    if (value.empty()) throw Error{Errc::invalid_argument, "a secret's value must not be empty"};
    if (value.size() > kMaxValue) throw Error{Errc::invalid_argument, "a secret's value of more than 64 KiB"};
}

void check_hosts(const std::vector<std::string>& hosts) {
    if (hosts.size() > kMaxHosts) throw Error{Errc::invalid_argument, "a secret with more than 64 hosts"};
    for (const std::string& host : hosts) or_throw(policy::HostPattern::parse(host));
}

void check_metadata(const std::map<std::string, std::string>& metadata) {
    std::size_t bytes = 0;
    for (const auto& [name, value] : metadata) bytes += name.size() + value.size();
    if (bytes > kMaxMetadata) throw Error{Errc::invalid_argument, "a secret's metadata of more than 16 KiB"};
}

Error unknown(std::string_view name) {
    const boost::json::string shown = core::json_text(name.substr(0, kMaxName));
    return {Errc::not_found, "there is no secret " + std::string{shown.data(), shown.size()}};
}

}  // namespace

Vault::Vault(const Clock& clock, core::Store& store, core::EventBus& events, const Seal& seal)
    : clock_{clock}, store_{store}, events_{events}, seal_{seal} {}

Task<> Vault::load() {
    for (const core::StoredItem& item : co_await store_.load_items(kKind)) {
        Secret secret = or_throw(secret_from_json(item.body));
        for (const SecretVersion& version : secret.versions) {
            if (seal_.open(seal_label(secret, version.number), version.sealed)) continue;
            throw Error{Errc::failed_precondition, Fault::oyat_operator,
                        "the secrets in the database were sealed with another key file; put that one back"};
        }
        Place place{secret.tenant, secret.name};
        secrets_.insert_or_assign(std::move(place), std::move(secret));
    }
}

// --- changing ---------------------------------------------------------------------------------------------

Task<Secret> Vault::create(NewSecret wanted, core::Principal who) {
    const Defer wiped{[&] { OPENSSL_cleanse(wanted.value.data(), wanted.value.size()); }};
    Secret secret{.id = "sec_" + random_hex(8),
                  .name = or_throw(secret_name(wanted.name)),
                  .tenant = who.tenant,
                  .metadata = std::move(wanted.metadata),
                  .description = std::move(wanted.description),
                  .hosts = std::move(wanted.hosts),
                  .created = clock_.wall(),
                  .expires = wanted.expires};
    check_value(wanted.value);
    check_metadata(secret.metadata);
    check_hosts(secret.hosts);
    if (secret.description.size() > 1024)
        throw Error{Errc::invalid_argument, "a description of more than 1 KiB"};
    const Place place{secret.tenant, secret.name};
    if (secrets_.contains(place) || !making_.insert(place).second) {
        throw Error{Errc::already_exists, "there is a secret " + secret.name + " already"};
    }
    const Defer made{[&] { making_.erase(place); }};
    if (list(who.tenant).size() >= kMaxSecrets) {
        throw Error{Errc::exhausted, Fault::limit, "1000 secrets are the most that one tenant may keep"};
    }
    add_version(secret, wanted.value, Millis{0});
    co_await put(secret, "secret.created", who);
    co_return secret;
}

Task<Secret> Vault::rotate(std::string name_or_id, Rotation change, core::Principal who) {
    const Defer wiped{[&] { OPENSSL_cleanse(change.value.data(), change.value.size()); }};
    Secret secret = find(who.tenant, name_or_id);
    if (secret.revoked) throw Error{Errc::failed_precondition, "secret " + secret.name + " was revoked"};
    check_value(change.value);
    if (change.grace < Millis{0} || change.grace > std::chrono::hours{24 * 30}) {
        throw Error{Errc::invalid_argument, "a time of grace is 0 to 30 days"};
    }
    if (change.metadata) secret.metadata = *std::move(change.metadata);
    if (change.hosts) secret.hosts = *std::move(change.hosts);
    if (change.expires) secret.expires = change.expires;
    check_metadata(secret.metadata);
    check_hosts(secret.hosts);
    add_version(secret, change.value, change.grace);
    co_await put(secret, "secret.rotated", who);
    co_return secret;
}

Task<Secret> Vault::describe(std::string name_or_id, std::map<std::string, std::string> metadata,
                             core::Principal who) {
    check_metadata(metadata);
    Secret secret = find(who.tenant, name_or_id);
    secret.metadata = std::move(metadata);
    co_await put(secret, "secret.described", who);
    co_return secret;
}

Task<Secret> Vault::revoke(std::string name_or_id, core::Principal who) {
    Secret secret = find(who.tenant, name_or_id);
    secret.revoked = true;
    co_await put(secret, "secret.revoked", who);
    if (revoked_) revoked_(secret);
    co_return secret;
}

Task<> Vault::remove(std::string name_or_id, core::Principal who) {
    const Secret secret = find(who.tenant, name_or_id);
    core::Event event{.type = "secret.removed", .tenant = secret.tenant};
    event.fields["secret"] = secret.name;
    core::add_who(event, who);
    events_.emit(std::move(event));
    secrets_.erase({secret.tenant, secret.name});  // in force before it is on the disk
    ++generation_;
    if (revoked_) revoked_(secret);
    co_await store_.forget_item(kKind, store_key(secret));
}

void Vault::add_version(Secret& secret, std::string_view value, Millis grace) const {
    const WallTime now = clock_.wall();
    std::erase_if(secret.versions,
                  [now](const SecretVersion& each) { return each.retires && *each.retires <= now; });
    std::uint32_t number = 1;
    if (!secret.versions.empty()) {
        number = secret.current().number + 1;
        secret.versions.back().retires = now + grace;
        if (grace == Millis{0}) secret.versions.pop_back();
    }
    secret.versions.push_back({.number = number,
                               .sealed = seal_.close(seal_label(secret, number), value),
                               .created = now,
                               .retires = std::nullopt});
}

// First on the record, then in the store, then in force: what a client was told holds after a crash.
Task<> Vault::put(Secret changed, std::string event_type, const core::Principal& who) {
    changed.updated = clock_.wall();
    core::Event event{.type = std::move(event_type), .tenant = changed.tenant};
    event.fields["secret"] = changed.name;
    event.fields["version"] = changed.current().number;
    core::add_who(event, who);
    events_.emit(std::move(event));
    std::string body;
    core::append_json(body, to_json(changed));
    Place place{changed.tenant, changed.name};
    co_await store_.save_item(kKind, store_key(changed), std::move(body));
    secrets_.insert_or_assign(std::move(place), std::move(changed));
    ++generation_;
}

// --- looking ----------------------------------------------------------------------------------------------

const Secret* Vault::look(const std::string& tenant, std::string_view name_or_id) const {
    if (name_or_id.starts_with("sec_")) {
        const auto found = std::ranges::find_if(secrets_, [&](const auto& each) {
            return each.first.first == tenant && each.second.id == name_or_id;
        });
        return found == secrets_.end() ? nullptr : &found->second;
    }
    const Result<std::string> name = secret_name(name_or_id);
    if (!name) return nullptr;
    const auto found = secrets_.find({tenant, *name});
    return found == secrets_.end() ? nullptr : &found->second;
}

const Secret& Vault::find(const std::string& tenant, std::string_view name_or_id) const {
    if (const Secret* found = look(tenant, name_or_id)) return *found;
    throw unknown(name_or_id);
}

std::vector<Secret> Vault::list(const std::string& tenant) const {
    std::vector<Secret> all;
    for (const auto& [place, secret] : secrets_) {
        if (place.first == tenant) all.push_back(secret);
    }
    return all;
}

Result<SecretValue> Vault::open(const std::string& tenant, const std::string& name) const {
    const Secret* const secret = look(tenant, name);
    if (secret == nullptr) return refuse(Errc::denied, "secret " + name + " does not exist any more");
    if (secret->revoked) return refuse(Errc::denied, "secret " + name + " was revoked");
    if (secret->expires && *secret->expires <= clock_.wall()) {
        return refuse(Errc::denied, "secret " + name + " expired");
    }
    return seal_.open(seal_label(*secret, secret->current().number), secret->current().sealed);
}

void Vault::each_value(const std::string& tenant, const std::string& name,
                       const std::function<void(std::string_view)>& see) const {
    const Secret* const secret = look(tenant, name);
    if (secret == nullptr) return;
    for (const SecretVersion& version : secret->versions) {
        if (version.retires && *version.retires <= clock_.wall()) continue;
        if (const auto value = seal_.open(seal_label(*secret, version.number), version.sealed)) {
            see(value->bytes());
        }
    }
}

}  // namespace oyat::secrets
