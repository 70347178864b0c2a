#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/sandbox.hpp"
#include "core/snapshot_record.hpp"

namespace oyat::core {

struct SnapshotFilter {
    std::string tenant;
    std::string sandbox;  // "": of any
    std::string name;     // "name" or "name:tag"; "": any
};

struct ForkOrder {
    std::uint32_t count = 1;  // 1 to 100
    Millis timeout{300'000};  // of each copy, from now
};
// One copy, or why there is none.
struct Fork {
    std::shared_ptr<Sandbox> sandbox;
    std::optional<Error> error;
};

// Copies of sandboxes: those that are kept, those that live beside their source at once, and the way back.
// `reference` is an id or a name. What belongs to another tenant is not found.
class Snapshots {
public:
    virtual ~Snapshots() = default;

    // The sandbox goes on as it was. A name that is given again goes from the earlier snapshot, which stays
    // known by its id, to this one; "": no name. Throws Error{exhausted} beyond the tenant's quota.
    virtual Task<SnapshotRecord> make_snapshot(std::string sandbox, std::string name, Principal who) = 0;
    [[nodiscard]] virtual std::vector<SnapshotRecord> snapshots(const SnapshotFilter& filter) const = 0;
    [[nodiscard]] virtual SnapshotRecord snapshot(const std::string& reference,
                                                  const std::string& tenant) const = 0;
    // Sandboxes that were made of it keep what they have.
    virtual Task<> remove_snapshot(std::string reference, Principal who) = 0;
    // How long it is kept after its last use, of which this is one; 0: for ever.
    virtual Task<SnapshotRecord> retain_snapshot(std::string reference, Millis kept, Principal who) = 0;

    // Copies of a running sandbox. Each counts towards the tenant's limits by itself, so some may be refused.
    virtual Task<std::vector<Fork>> fork(std::string sandbox, ForkOrder order, Principal who) = 0;
    // Back to a snapshot, or to its template (""): same id, tokens, addresses and policy; all else is new.
    virtual Task<> reset(std::string sandbox, std::string reference, Principal who) = 0;
};

}  // namespace oyat::core
