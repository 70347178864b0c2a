#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"

namespace oyat::keeper {

// Where engines write the memory of sandboxes: `<state>/memory/<id>/`, for a stored box or a snapshot of that
// id; `<id>.new` while it is being written. 0700 root's. Outside of the boxes' disks, whose limits it must
// not use up.
class Memories {
public:
    explicit Memories(const std::string& dir);

    // An empty directory to write to, in place of what an earlier try has left.
    [[nodiscard]] Fd begin(std::string_view id) const;
    // What was written, and synced, is the memory of `id` from here on; it survives a power cut.
    void keep(std::string_view id) const;
    // Copies that of one for another: by sharing blocks where the file system can. Slow; for a forked child.
    // Undone by remove().
    void copy(std::string_view from, std::string_view to) const;

    [[nodiscard]] Fd open(std::string_view id) const;  // throws `not_found`
    [[nodiscard]] bool has(std::string_view id) const;
    [[nodiscard]] std::uint64_t bytes(std::string_view id) const;  // on disk
    // Finished or not. Whoever has files of it open goes on with them.
    void remove(std::string_view id) const;
    // The ids that have one, finished or not, sorted.
    [[nodiscard]] std::vector<std::string> ids() const;

private:
    Fd dir_;
};

}  // namespace oyat::keeper
