#pragma once

#include <string>
#include <string_view>

#include "base/result.hpp"

namespace oyat::core {

// Ids of snapshots are 's' + 20 of [a-z0-9], given by the keeper and never given twice.
[[nodiscard]] bool is_snapshot_id(std::string_view text) noexcept;

// What a client calls a snapshot: "name", "name:tag", "tenant/name:tag". A tag that is not named is
// "default". Letters are taken as small ones.
struct SnapshotName {
    std::string name;
    std::string tag;
    bool with_tag = false;  // the text named it

    // Refuses what is no name, what reads like an id, and another tenant's.
    static Result<SnapshotName> parse(std::string_view text, std::string_view tenant);
};

}  // namespace oyat::core
