#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/snapshots.hpp"
#include "core/store.hpp"

namespace oyat::core {

// What the operator allows each tenant.
struct SnapshotRules {
    std::uint32_t most = 500;
    std::uint64_t most_bytes = 200ull << 30;
    Millis kept = std::chrono::hours{24 * 30};  // after the last use, unless somebody said otherwise
};

// Which snapshots there are, by id and by name, and what each tenant may have. It is in the store before it
// is in force.
class SnapshotBook {
public:
    SnapshotBook(Store& store, const SnapshotRules& rules) : store_{store}, rules_{rules} {}

    // Those that the keeper has no more are forgotten. Returns the ids of those that it has and nobody knows.
    Task<std::vector<std::string>> load(const std::vector<SnapshotFacts>& there);

    // Room for one more, held until leave(). Throws Error{exhausted, Fault::limit}.
    void enter(const std::string& tenant);
    void leave(const std::string& tenant);

    Task<> add(SnapshotRecord record);  // takes its name from whichever had it
    Task<> change(SnapshotRecord record);
    Task<> forget(std::string id);

    // Null: this tenant has none of that id or name.
    [[nodiscard]] const SnapshotRecord* find(const std::string& reference, const std::string& tenant) const;
    [[nodiscard]] std::vector<SnapshotRecord> list(const SnapshotFilter& filter) const;  // newest first
    [[nodiscard]] const std::map<std::string, SnapshotRecord>& all() const { return records_; }

private:
    [[nodiscard]] const SnapshotRecord* named(const std::string& tenant, const std::string& name,
                                              const std::string& tag) const;
    Task<> save(SnapshotRecord record);
    Task<> settle_names();

    Store& store_;
    const SnapshotRules& rules_;
    std::map<std::string, SnapshotRecord> records_;    // by id
    std::map<std::string, std::uint32_t> being_made_;  // by tenant
};

}  // namespace oyat::core
