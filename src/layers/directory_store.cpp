#include "layers/directory_store.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "base/defer.hpp"
#include "base/throwing.hpp"
#include "layers/directory.hpp"
#include "layers/room.hpp"
#include "layers/tree_copy.hpp"

namespace oyat::layers {
namespace {

std::uint64_t device_of(int directory) {
    struct stat facts{};
    sys(::fstat(directory, &facts), "stat of the store");
    return facts.st_dev;
}

}  // namespace

DirectoryStore::DirectoryStore(Fd root, const StoreOptions& options, std::string where, Limit limit,
                               const Staging& staging, std::unique_ptr<LoopMount> image)
    : image_{std::move(image)},
      view_{root.get(), staging.mount_point("boxes")},
      root_{open_directory(AT_FDCWD, view_.path())},
      shelf_{root_.get()},
      state_dir_{options.state_dir} {
    const bool hard = limit == Limit::project_quota;
    if (hard) quota_.emplace(root_.get(), options.state_id);
    facts_ = {.disk_limit_by = hard ? "project-quota" : "watched",
              .bytes_hard = hard,
              .inodes_hard = hard,
              .inodes_by = hard ? "" : "measured now and then",
              .where = std::move(where),
              .device = device_of(root_.get())};
}

Fd DirectoryStore::make_box(std::string_view id, const DiskLimit& limit) {
    check_box_id(id);
    const std::string name{id};
    return in("make box", [&] {
        sys(::mkdirat(shelf_.boxes(), name.c_str(), 0700), "mkdir");
        Defer undo{[&] { discard(name); }};
        Fd box = open_directory(shelf_.boxes(), name);
        if (quota_) quota_->enter(box.get(), limit);  // first, so that u and w inherit the project
        Shelf::furnish(box.get());
        note(id, limit);
        undo.dismiss();
        return box;
    });
}

Fd DirectoryStore::open_box(std::string_view id, const DiskLimit& limit) {
    check_box_id(id);
    return in("open box", [&] {
        Fd box = open_directory(shelf_.boxes(), std::string{id});
        note(id, limit);
        return box;
    });
}

Fd DirectoryStore::reopen_box(std::string_view id, const DiskLimit& limit) {
    Fd box = open_box(id, limit);
    in("reopen box", [&] { Shelf::renew_work(box.get()); });
    return box;
}

Fd DirectoryStore::box(std::string_view id) const {
    check_box_id(id);
    return open_directory(shelf_.boxes(), std::string{id});
}

DirectoryStore::Known& DirectoryStore::note(std::string_view id, const DiskLimit& limit) {
    Known& known = known_[std::string{id}];
    known.limit = limit;
    if (!quota_) known.meter = std::make_unique<TreeMeter>();
    return known;
}

void DirectoryStore::set_limit(std::string_view id, const DiskLimit& limit) {
    check_box_id(id);
    const auto found = known_.find(id);
    if (found == known_.end()) throw Error{Errc::not_found, "no such box"};
    if (quota_) quota_->set_limit(open_directory(shelf_.boxes(), std::string{id}).get(), limit);
    found->second.limit = limit;
}

DiskUse DirectoryStore::use(std::string_view id) const {
    const auto found = known_.find(id);
    if (found == known_.end()) throw Error{Errc::not_found, "no such box"};
    const Fd box = open_directory(shelf_.boxes(), std::string{id});
    DiskUse use = quota_ ? quota_->use(box.get()) : found->second.meter->measure(box.get());
    use.limit = found->second.limit;
    return use;
}

void DirectoryStore::discard(std::string_view id) {
    check_box_id(id);
    const std::string name{id};
    known_.erase(name);
    shelf_.discard(name);
}

void DirectoryStore::remove_discarded(int trash) const {
    for (const std::string& name : names_in(trash)) {
        const Fd box{::openat(trash, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)};
        const std::uint32_t project = quota_ && box ? ProjectQuota::number_of(box.get()) : 0;
        remove_tree(trash, name);
        if (project != 0) ProjectQuota::forget(trash, project);
    }
}

void DirectoryStore::save(std::string_view id, std::string_view saved) const {
    check_box_id(id);
    check_box_id(saved);
    in("save box", [&] {
        const Fd box = open_directory(shelf_.boxes(), std::string{id});
        sys(::mkdirat(shelf_.saved(), std::string{saved}.c_str(), 0700), "mkdir");
        const Fd copy = open_directory(shelf_.saved(), std::string{saved});
        copy_tree(open_directory(box.get(), "u").get(), make_directory(copy.get(), "u", 0755).get());
        sys(::syncfs(copy.get()), "sync the store");
    });
}

void DirectoryStore::begin_box_of(std::string_view saved, std::string_view id, const DiskLimit& limit) {
    check_box_id(saved);
    in("copy box", [&] { static_cast<void>(open_directory(shelf_.saved(), std::string{saved})); });
    static_cast<void>(make_box(id, limit));
}

void DirectoryStore::fill(std::string_view saved, std::string_view id) const {
    check_box_id(id);
    check_box_id(saved);
    in("copy box", [&] {
        const Fd from = open_directory(shelf_.saved(), std::string{saved});
        const Fd box = open_directory(shelf_.boxes(), std::string{id});
        copy_tree(open_directory(from.get(), "u").get(), open_directory(box.get(), "u").get());
    });
}

void DirectoryStore::drop(std::string_view saved) {
    check_box_id(saved);
    shelf_.drop(std::string{saved});
}

StoreRoom DirectoryStore::room() const {
    return room_of(root_.get(), state_dir_);
}

}  // namespace oyat::layers
