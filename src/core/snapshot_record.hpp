#pragma once

#include <boost/json/object.hpp>
#include <string>

#include "base/clock.hpp"
#include "base/result.hpp"
#include "core/keeper.hpp"
#include "core/principal.hpp"

namespace oyat::core {

// What is known of one snapshot: whose it is, what it was made of, and how long it is kept.
struct SnapshotRecord {
    std::string id;  // the keeper's
    std::string tenant;
    std::string name, tag;      // "": it is known by its id alone
    std::string sandbox;        // whose state it is
    std::string template_name;  // of that sandbox
    std::string template_digest;
    std::string engine;
    std::string policy;  // that sandbox's own document then; those made of it start with it
    bool memory = false;
    Limits limits;
    std::uint64_t disk_bytes = 0;
    std::uint64_t memory_bytes = 0;
    Millis stood_still{0};  // how long that sandbox was stopped for it
    WallTime created{};
    WallTime used{};                       // last; being made is a use
    Millis kept{0};                        // after the last use; 0 = for ever
    bool warned = false;                   // that it is about to expire
    std::string key_id, client, protocol;  // who asked

    [[nodiscard]] std::uint64_t bytes() const { return disk_bytes + memory_bytes; }
    [[nodiscard]] bool expires() const { return kept > Millis{0}; }
    [[nodiscard]] WallTime expires_at() const { return used + kept; }
};

[[nodiscard]] boost::json::object to_json(const SnapshotRecord& record);
[[nodiscard]] Result<SnapshotRecord> snapshot_record_from_json(const boost::json::object& json);

}  // namespace oyat::core
