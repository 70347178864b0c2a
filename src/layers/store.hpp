#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"
#include "layers/disk.hpp"
#include "layers/staging.hpp"

namespace oyat::layers {

// Where the writable parts of sandboxes are kept, each with its own hard disk limit. A sandbox's part is a
// "box": a directory with `u` (the overlay's upper: exactly the changed files) and `w` (its work directory),
// all with plain ids 0..65535; the id map is applied where it is mounted. The store is mounted nosuid, nodev,
// noatime and is 0700 root's, so that set-user-id files made inside are out of every host user's reach
// (threats J-20).
//
// Ids are [a-z0-9-]{1,40}. All calls take well under a millisecond but for those that say otherwise.
class Store {
public:
    virtual ~Store() = default;

    // A new box with empty `u` and `w`. The descriptor (O_PATH) is what Staging::make_root wants; keep or
    // close it. Undoes itself when it fails. Image stores take 3 ms.
    [[nodiscard]] virtual Fd make_box(std::string_view id, const DiskLimit& limit) = 0;

    // The box of a living sandbox that a former keeper made. `limit` is what its record says.
    [[nodiscard]] virtual Fd open_box(std::string_view id, const DiskLimit& limit) = 0;

    // The box of a sandbox that does not run, for its next start: `w` is empty again.
    [[nodiscard]] virtual Fd reopen_box(std::string_view id, const DiskLimit& limit) = 0;

    // The box of a living sandbox, to be looked at. Throws `not_found`.
    [[nodiscard]] virtual Fd box(std::string_view id) const = 0;

    // Throws `unimplemented` where this store can't change the limit of a box in use.
    virtual void set_limit(std::string_view id, const DiskLimit& limit) = 0;

    // As the kernel last counted: btrfs counts at each commit, up to 30 seconds late (its limit is always
    // exact).
    [[nodiscard]] virtual DiskUse use(std::string_view id) const = 0;

    // Copies a box as `saved`, which never changes. Whoever writes to the box stands still meanwhile. What
    // was copied survives a power cut. As slow as the box is big, but on a store that shares blocks. Changes
    // nothing that this object remembers: for a forked child.
    virtual void save(std::string_view id, std::string_view saved) const = 0;
    // A box that begins as a saved copy takes three steps: begin it, fill it (slow, for a forked child, and
    // nothing at all where `begins_full`), and reopen_box(). Undone by discard() at any point.
    [[nodiscard]] virtual bool begins_full() const = 0;
    virtual void begin_box_of(std::string_view saved, std::string_view id, const DiskLimit& limit) = 0;
    virtual void fill(std::string_view saved, std::string_view id) const = 0;
    [[nodiscard]] virtual std::vector<std::string> saved() const = 0;
    // As discard().
    virtual void drop(std::string_view saved) = 0;

    // The boxes that exist, sorted: leftovers are those that no living sandbox owns.
    [[nodiscard]] virtual std::vector<std::string> boxes() const = 0;

    // Takes the box away at once (a rename); its trees are removed later by a Sweeper. Nothing happens when
    // it is not there. The sandbox must be dead and its root mount closed.
    virtual void discard(std::string_view id) = 0;

    // How many discarded boxes wait, and where. `remove_discarded` is the slow part, for the Sweeper's child,
    // which holds no descriptor but `trash`.
    [[nodiscard]] virtual std::size_t trash() const = 0;
    [[nodiscard]] virtual int trash_directory() const = 0;
    virtual void remove_discarded(int trash) const = 0;

    [[nodiscard]] virtual const StoreFacts& facts() const = 0;
    [[nodiscard]] virtual StoreRoom room() const = 0;
};

struct StoreOptions {
    std::string
        state_dir;  // root's, 0700; the store is `state_dir`/boxes or the image `state_dir`/store.<kind>
    std::string state_id;
    std::uint64_t image_bytes =
        0;  // size of a new store image; 0 = the smaller of 64 GiB and 80 % of what is free
    std::string
        only;  // take this kind ("btrfs-qgroup", "loop-image", ...) or fail; empty = the best that works
};

// Opens the state's store, or makes it: the first kind of this list that passes a real trial here, noted in
// the state so that later starts take the same.
//   1. project quota on the state's own XFS or ext4
//   2. the state's own btrfs, if quotas are on there; or XFS with one reflinked ext4 image a box
//   3. a sparse store image in the state: btrfs with qgroups, else ext4 with project quota
//   4. one ext4 image a box on whatever the state stands on
//   5. plain directories, measured but not limited: "watched"
// Mounts go into the calling process's mount namespace, which is Staging's private one. A store that a former
// keeper of this state mounted, and that living sandboxes keep alive, is joined: same loop device, same
// superblock. Takes up to a second when it has to format. `probes` receives a line for each kind passed over,
// with the reason.
[[nodiscard]] std::unique_ptr<Store> open_store(const StoreOptions& options, const Staging& staging,
                                                std::vector<std::string>& probes);

}  // namespace oyat::layers
