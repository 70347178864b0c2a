#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "core/event.hpp"
#include "core/store.hpp"
#include "secrets/seal.hpp"
#include "secrets/secret.hpp"

namespace oyat::secrets {

// All secrets of the server. Values come in once and are never shown again: they lie sealed in the store and
// in memory, and are opened for the moment of their use. Every change is on the record, by names alone. Lives
// on the loop.
class Vault {
public:
    Vault(const Clock& clock, core::Store& store, core::EventBus& events, const Seal& seal);

    // Once, before all else. Throws Error{failed_precondition} when a value does not open: then the key file
    // is not the one that the database was written with, and going on would lose what it holds.
    Task<> load();

    struct NewSecret {
        std::string name;
        std::string value;
        std::map<std::string, std::string> metadata;
        std::string description;
        std::vector<std::string> hosts;
        std::optional<WallTime> expires;
    };
    Task<Secret> create(NewSecret wanted, core::Principal who);  // already_exists
    // In force with the next request; the old value is known to the masker for `grace` more.
    struct Rotation {
        std::string value;
        Millis grace{0};
        std::optional<std::map<std::string, std::string>> metadata;  // replaced along with it
        std::optional<std::vector<std::string>> hosts;
        std::optional<WallTime> expires;
    };
    Task<Secret> rotate(std::string name_or_id, Rotation change, core::Principal who);
    Task<Secret> describe(std::string name_or_id, std::map<std::string, std::string> metadata,
                          core::Principal who);
    Task<Secret> revoke(std::string name_or_id, core::Principal who);
    Task<> remove(std::string name_or_id, core::Principal who);

    // Throws not_found, also for another tenant's.
    [[nodiscard]] const Secret& find(const std::string& tenant, std::string_view name_or_id) const;
    [[nodiscard]] const Secret* look(const std::string& tenant, std::string_view name_or_id) const;
    [[nodiscard]] std::vector<Secret> list(const std::string& tenant) const;

    // The value that is in force. Refused (denied) when it is gone, revoked or expired, in a sentence for
    // whoever wanted to use it.
    [[nodiscard]] Result<SecretValue> open(const std::string& tenant, const std::string& name) const;
    // Every value by which it may still be known: the one in force, and old ones in their time of grace.
    void each_value(const std::string& tenant, const std::string& name,
                    const std::function<void(std::string_view)>& see) const;

    // Rises with every change of a value.
    [[nodiscard]] std::uint64_t generation() const { return generation_; }
    // Called for each one that was revoked or removed.
    void on_revoked(std::function<void(const Secret&)> listener) { revoked_ = std::move(listener); }

private:
    using Place = std::pair<std::string, std::string>;  // tenant, name

    void add_version(Secret& secret, std::string_view value, Millis grace) const;
    Task<> put(Secret changed, std::string event, const core::Principal& who);

    const Clock& clock_;
    core::Store& store_;
    core::EventBus& events_;
    const Seal& seal_;
    std::map<Place, Secret> secrets_;
    std::set<Place> making_;  // names of creates that are on their way to the store
    std::uint64_t generation_ = 1;
    std::function<void(const Secret&)> revoked_;
};

}  // namespace oyat::secrets
