#include "layers/image_store.hpp"

#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

#include "base/defer.hpp"
#include "base/throwing.hpp"
#include "layers/copy_file.hpp"
#include "layers/directory.hpp"
#include "layers/program.hpp"
#include "layers/room.hpp"

namespace oyat::layers {
namespace {

constexpr std::uint64_t kUnlimitedBytes = std::uint64_t{64} << 30;
constexpr std::uint64_t kJournalMib = 4;
constexpr std::uint64_t kInodeBytes = 256;
// Blocks are holes until they are written, and read as zeros: no table needs to be cleared in the background.
constexpr const char* kMountOptions = "noinit_itable";

// What the file system needs for itself comes on top of what the sandbox may write.
std::uint64_t image_bytes(const DiskLimit& limit) {
    const std::uint64_t payload = limit.bytes == 0 ? kUnlimitedBytes : limit.bytes;
    const std::uint64_t tables = limit.inodes * kInodeBytes;
    const std::uint64_t total = payload + tables + (kJournalMib << 20) + payload / 256;
    return (total + 0xFFFFF) & ~std::uint64_t{0xFFFFF};
}

void format(const std::string& path, const DiskLimit& limit) {
    std::vector<std::string> command{
        "mkfs.ext4", "-q", "-F", "-b", "4096", "-m", "0", "-I", std::to_string(kInodeBytes)};
    command.insert(command.end(), {"-J", "size=" + std::to_string(kJournalMib)});
    command.insert(command.end(),
                   {"-E", "lazy_itable_init=1,lazy_journal_init=1,nodiscard", "-O", "^resize_inode"});
    if (limit.inodes != 0) command.insert(command.end(), {"-N", std::to_string(limit.inodes)});
    command.push_back(path);
    run_program(std::move(command));
}

}  // namespace

ImageStore::ImageStore(const std::string& state_dir, Copy copy, const Staging& staging)
    : state_dir_{state_dir},
      copy_{copy},
      staging_{staging},
      state_{open_directory(AT_FDCWD, state_dir)},
      formatted_{make_directory(state_.get(), "formatted", 0700)},
      shelf_{state_.get()} {
    struct stat facts{};
    sys(::fstat(state_.get(), &facts), "stat of the state");
    facts_ = {.disk_limit_by = copy == Copy::share_blocks ? "reflink-image" : "loop-image",
              .bytes_hard = true,
              .inodes_hard = true,
              .where = "an ext4 image a sandbox, in the state",
              .device = facts.st_dev};
}

Fd ImageStore::make_box(std::string_view id, const DiskLimit& limit) {
    check_box_id(id);
    const std::string name{id};
    return in("make box", [&] {
        static_cast<void>(copy_image(formatted_image(limit), shelf_.boxes(), name));
        Defer undo{[&] { discard(name); }};
        Fd box = open_box(id, limit);
        sys(::fchmodat(box.get(), ".", 0700, 0), "close box to others");
        Shelf::furnish(box.get());
        undo.dismiss();
        return box;
    });
}

// A store that shares blocks never copies in silence: its promise is to be quick.
Fd ImageStore::copy_image(const Fd& from, int directory, const std::string& name) const {
    const int flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    Fd image{sys(::openat(directory, name.c_str(), flags, 0600), "create image")};
    Defer undo{[&] { ::unlinkat(directory, name.c_str(), 0); }};
    if (copy_ == Copy::share_blocks) {
        sys(::ioctl(image.get(), FICLONE, from.get()), "share the blocks of an image");
    } else {
        copy_file(from.get(), image.get());
    }
    undo.dismiss();
    return image;
}

void ImageStore::save(std::string_view id, std::string_view saved) const {
    check_box_id(saved);
    in("save box", [&] {
        const Fd image = open_image(shelf_.boxes(), id);
        // What the file system has not written yet goes to its journal; the copy's first mount reads that.
        if (mounted_.contains(id)) sys(::syncfs(box(id).get()), "sync box");
        const Fd copy = copy_image(image, shelf_.saved(), std::string{saved});
        sys(::fsync(copy.get()), "sync image");
        sys(::fsync(shelf_.saved()), "sync saved images");
    });
}

// An image has the size that it was formatted with.
void ImageStore::begin_box_of(std::string_view saved, std::string_view id, const DiskLimit& limit) {
    check_box_id(id);
    in("copy box", [&] {
        struct stat facts{};
        sys(::fstat(open_image(shelf_.saved(), saved).get(), &facts), "stat image");
        if (static_cast<std::uint64_t>(facts.st_size) != image_bytes(limit)) {
            throw Error{Errc::unimplemented,
                        "the size of a sandbox's disk image can't be changed: a copy "
                        "has the disk limit of what it is a copy of"};
        }
    });
}

void ImageStore::fill(std::string_view saved, std::string_view id) const {
    check_box_id(id);
    in("copy box", [&] {
        static_cast<void>(copy_image(open_image(shelf_.saved(), saved), shelf_.boxes(), std::string{id}));
    });
}

void ImageStore::drop(std::string_view saved) {
    check_box_id(saved);
    shelf_.drop(std::string{saved});
}

Fd ImageStore::open_image(int directory, std::string_view name) {
    check_box_id(name);
    const int flags = O_RDWR | O_NOFOLLOW | O_CLOEXEC;
    return Fd{sys(::openat(directory, std::string{name}.c_str(), flags), "open image")};
}

Fd ImageStore::open_box(std::string_view id, const DiskLimit& limit) {
    check_box_id(id);
    const std::string name{id};
    if (const auto mounted = mounted_.find(id); mounted != mounted_.end()) {
        mounted->second.limit = limit;
        return box(id);
    }
    return in("open box", [&] { return mount_box(name, open_image(shelf_.boxes(), name).get(), limit); });
}

Fd ImageStore::reopen_box(std::string_view id, const DiskLimit& limit) {
    Fd box = open_box(id, limit);
    in("reopen box", [&] { Shelf::renew_work(box.get()); });
    return box;
}

Fd ImageStore::box(std::string_view id) const {
    const auto found = mounted_.find(std::string{id});
    if (found == mounted_.end()) throw Error{Errc::not_found, "no such box"};
    return open_directory(AT_FDCWD, found->second.mount->directory());
}

Fd ImageStore::mount_box(const std::string& id, int image, const DiskLimit& limit) {
    auto mount = std::make_unique<LoopMount>(image, "ext4", staging_.mount_point("box-" + id), kMountOptions);
    Fd box = open_directory(AT_FDCWD, mount->directory());
    mounted_[id] = {.mount = std::move(mount), .limit = limit};
    return box;
}

// Formatted once for each pair of limits (some 50 ms), then copied.
Fd ImageStore::formatted_image(const DiskLimit& limit) const {
    const std::string name = std::to_string(limit.bytes) + "-" + std::to_string(limit.inodes);
    const std::string path = state_dir_ + "/formatted/" + name;
    if (::access(path.c_str(), F_OK) != 0) {
        const std::string temporary = path + ".new";
        const int flags = O_RDWR | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC;
        const Fd file{sys(::open(temporary.c_str(), flags, 0600), "create " + temporary)};
        sys(::ftruncate(file.get(), static_cast<off_t>(image_bytes(limit))), "size " + temporary);
        format(temporary, limit);
        sys(::fsync(file.get()), "sync " + temporary);
        sys(::rename(temporary.c_str(), path.c_str()), "rename " + temporary);
    }
    return Fd{sys(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC), "open " + path)};
}

void ImageStore::set_limit(std::string_view, const DiskLimit&) {
    throw Error{Errc::unimplemented,
                "the size of a sandbox's disk image can't be changed; stores on btrfs can"};
}

DiskUse ImageStore::use(std::string_view id) const {
    const auto found = mounted_.find(id);
    if (found == mounted_.end()) throw Error{Errc::not_found, "no such box"};
    struct statvfs facts{};
    sys(::statvfs(found->second.mount->directory().c_str(), &facts), "statfs of the box");
    return {.bytes = (facts.f_blocks - facts.f_bfree) * facts.f_frsize,
            .inodes = facts.f_files - facts.f_ffree,
            .limit = found->second.limit};
}

void ImageStore::discard(std::string_view id) {
    check_box_id(id);
    const std::string name{id};
    if (const auto found = mounted_.find(id); found != mounted_.end()) {
        const std::string directory = found->second.mount->directory();
        mounted_.erase(found);
        ::rmdir(directory.c_str());
    }
    shelf_.discard(name);
}

void ImageStore::remove_discarded(int trash) const {
    for (const std::string& name : names_in(trash)) sys(::unlinkat(trash, name.c_str(), 0), "remove image");
}

StoreRoom ImageStore::room() const {
    return room_of(state_.get(), state_dir_);
}

}  // namespace oyat::layers
