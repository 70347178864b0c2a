#include "layers/btrfs_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <utility>

#include "base/defer.hpp"
#include "base/throwing.hpp"
#include "layers/btrfs.hpp"
#include "layers/directory.hpp"
#include "layers/room.hpp"

namespace oyat::layers {

BtrfsStore::BtrfsStore(Fd root, std::string state_dir, std::string where, std::unique_ptr<LoopMount> image)
    : image_{std::move(image)},
      root_{std::move(root)},
      shelf_{root_.get()},
      state_dir_{std::move(state_dir)} {
    facts_ = {.disk_limit_by = "btrfs-qgroup",
              .bytes_hard = true,
              .inodes_hard = false,
              .inodes_by = "bounded by the byte limit: a file takes about 480 bytes of it even when empty",
              .where = std::move(where),
              .device = image_ ? image_->device() : 0};
}

Fd BtrfsStore::make_box(std::string_view id, const DiskLimit& limit) {
    check_box_id(id);
    const std::string name{id};
    return in("make box", [&] {
        btrfs::create_subvolume(shelf_.boxes(), name);
        Defer undo{[&] { discard(name); }};
        Fd box = open_and_note(name, limit);
        btrfs::limit_subvolume(box.get(), limit.bytes);
        Shelf::furnish(box.get());
        undo.dismiss();
        return box;
    });
}

Fd BtrfsStore::open_box(std::string_view id, const DiskLimit& limit) {
    check_box_id(id);
    return in("open box", [&] { return open_and_note(std::string{id}, limit); });
}

Fd BtrfsStore::open_and_note(const std::string& id, const DiskLimit& limit) {
    Fd box = open_directory(shelf_.boxes(), id);
    known_[id] = {.subvolume = btrfs::subvolume_id(box.get()), .limit = limit};
    return box;
}

Fd BtrfsStore::reopen_box(std::string_view id, const DiskLimit& limit) {
    Fd box = open_box(id, limit);
    in("reopen box", [&] { Shelf::renew_work(box.get()); });
    return box;
}

Fd BtrfsStore::box(std::string_view id) const {
    check_box_id(id);
    return open_directory(shelf_.boxes(), std::string{id});
}

void BtrfsStore::set_limit(std::string_view id, const DiskLimit& limit) {
    check_box_id(id);
    in("limit box", [&] {
        const Fd box = open_directory(shelf_.boxes(), std::string{id});
        btrfs::limit_subvolume(box.get(), limit.bytes);
        known_[std::string{id}].limit = limit;
    });
}

DiskUse BtrfsStore::use(std::string_view id) const {
    const auto found = known_.find(id);
    if (found == known_.end()) throw Error{Errc::not_found, "no such box"};
    return {.bytes = btrfs::used_bytes(root_.get(), found->second.subvolume), .limit = found->second.limit};
}

void BtrfsStore::discard(std::string_view id) {
    check_box_id(id);
    const std::string name{id};
    shelf_.discard(name);
    known_.erase(name);
}

void BtrfsStore::remove_discarded(int trash) const {
    for (const std::string& name : names_in(trash)) btrfs::destroy_subvolume(trash, name);
}

void BtrfsStore::save(std::string_view id, std::string_view saved) const {
    check_box_id(id);
    check_box_id(saved);
    in("save box", [&] {
        const Fd box = open_directory(shelf_.boxes(), std::string{id});
        btrfs::copy_subvolume(box.get(), shelf_.saved(), std::string{saved});
    });
}

void BtrfsStore::begin_box_of(std::string_view saved, std::string_view id, const DiskLimit& limit) {
    check_box_id(id);
    check_box_id(saved);
    in("copy box", [&] {
        const Fd from = open_directory(shelf_.saved(), std::string{saved});
        btrfs::copy_subvolume(from.get(), shelf_.boxes(), std::string{id});
        Defer undo{[&] { discard(id); }};
        const Fd box = open_and_note(std::string{id}, limit);
        btrfs::limit_subvolume(box.get(), limit.bytes);
        undo.dismiss();
    });
}

void BtrfsStore::fill(std::string_view, std::string_view) const {}

void BtrfsStore::drop(std::string_view saved) {
    check_box_id(saved);
    shelf_.drop(std::string{saved});
}

StoreRoom BtrfsStore::room() const {
    return room_of(root_.get(), state_dir_);
}

}  // namespace oyat::layers
