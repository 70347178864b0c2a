#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/fd.hpp"
#include "keeper/rooms.hpp"
#include "wire/keeper_messages.hpp"

namespace oyat::keeper {

// The snapshots of this state. Each is a copy of a disk in the store, perhaps a memory, and a manifest
// `<state>/snapshots/<id>`, which is written last: there is no snapshot without it, and what stands without
// one is removed at the next start.
class Snapshots {
public:
    Snapshots(const std::string& dir, const Rooms& rooms);

    // Throws `not_found`.
    [[nodiscard]] const wire::SnapshotInfo& find(std::string_view id) const;
    [[nodiscard]] const std::map<std::string, wire::SnapshotInfo, std::less<>>& all() const { return all_; }

    // Its disk and its memory are there and synced: from here on it survives a power cut.
    void keep(const wire::SnapshotInfo& snapshot);
    // The manifest first: half a snapshot is none.
    void remove(std::string_view id);
    // Removes what a making that failed has left.
    void drop_parts(std::string_view id) const noexcept;

    // Before anything is made: what no manifest names goes, and a manifest without its disk.
    void recover();

private:
    const Rooms& rooms_;
    Fd dir_;
    std::map<std::string, wire::SnapshotInfo, std::less<>> all_;
};

}  // namespace oyat::keeper
