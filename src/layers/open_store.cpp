#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <utility>

#include "base/throwing.hpp"
#include "layers/btrfs.hpp"
#include "layers/btrfs_store.hpp"
#include "layers/directory.hpp"
#include "layers/directory_store.hpp"
#include "layers/image_store.hpp"
#include "layers/store.hpp"
#include "layers/store_image.hpp"
#include "layers/trial.hpp"

namespace oyat::layers {
namespace {

constexpr const char* kNote = "store.kind";

// One way to keep boxes: makes or opens its store, or throws the reason why it can't.
struct Kind {
    const char* name;
    const char* image;  // the file in the state that it makes, if any
    std::unique_ptr<Store> (*open)(const StoreOptions& options, const Staging& staging);
};

std::unique_ptr<Store> open_host_btrfs(const StoreOptions& options, const Staging&) {
    Fd state = open_directory(AT_FDCWD, options.state_dir);
    struct statfs facts{};
    sys(::fstatfs(state.get(), &facts), "statfs of the state");
    if (facts.f_type != BTRFS_SUPER_MAGIC) throw Error{Errc::unimplemented, "the state is not on btrfs"};
    // Quotas cost every user of the file system something: turning them on is its owner's decision.
    if (!btrfs::quota_is_on(state.get())) throw Error{Errc::unimplemented, "btrfs quotas are off there"};
    return std::make_unique<BtrfsStore>(std::move(state), options.state_dir,
                                        "the state's own file system (btrfs)", nullptr);
}

struct OpenedImage {
    std::unique_ptr<LoopMount> mount;
    Fd root;  // closed to others
};

OpenedImage open_image(const StoreOptions& options, const Staging& staging, const StoreImage& image) {
    std::unique_ptr<LoopMount> mount =
        open_store_image(options.state_dir, image, options.image_bytes, staging);
    Fd root = open_directory(AT_FDCWD, mount->directory());
    sys(::fchmod(root.get(), 0700), "close the store to others");
    return {std::move(mount), std::move(root)};
}

std::unique_ptr<Store> open_btrfs_image(const StoreOptions& options, const Staging& staging) {
    static const StoreImage kImage{.file = "store.btrfs",
                                   .fstype = "btrfs",
                                   .mkfs = "mkfs.btrfs -q -f -K -d single -m single",
                                   .options = "discard=async"};
    OpenedImage opened = open_image(options, staging, kImage);
    btrfs::enable_quota(opened.root.get());
    return std::make_unique<BtrfsStore>(std::move(opened.root), options.state_dir,
                                        "image in the state (btrfs)", std::move(opened.mount));
}

std::unique_ptr<Store> open_project_quota(const StoreOptions& options, const Staging& staging) {
    return std::make_unique<DirectoryStore>(open_directory(AT_FDCWD, options.state_dir), options,
                                            "the state's own file system",
                                            DirectoryStore::Limit::project_quota, staging, nullptr);
}

std::unique_ptr<Store> open_quota_image(const StoreOptions& options, const Staging& staging) {
    static const StoreImage kImage{
        .file = "store.ext4",
        .fstype = "ext4",
        .mkfs = "mkfs.ext4 -q -F -m 0 -O quota,project -E quotatype=prjquota,nodiscard",
        .options = "prjquota,discard"};
    OpenedImage opened = open_image(options, staging, kImage);
    return std::make_unique<DirectoryStore>(std::move(opened.root), options, "image in the state (ext4)",
                                            DirectoryStore::Limit::project_quota, staging,
                                            std::move(opened.mount));
}

std::unique_ptr<Store> open_reflink_images(const StoreOptions& options, const Staging& staging) {
    return std::make_unique<ImageStore>(options.state_dir, ImageStore::Copy::share_blocks, staging);
}

std::unique_ptr<Store> open_loop_images(const StoreOptions& options, const Staging& staging) {
    return std::make_unique<ImageStore>(options.state_dir, ImageStore::Copy::sparse, staging);
}

std::unique_ptr<Store> open_watched(const StoreOptions& options, const Staging& staging) {
    return std::make_unique<DirectoryStore>(open_directory(AT_FDCWD, options.state_dir), options,
                                            "the state's own file system", DirectoryStore::Limit::watched,
                                            staging, nullptr);
}

// The best first.
constexpr std::array<Kind, 7> kKinds{{
    {"project-quota", nullptr, open_project_quota},
    {"btrfs", nullptr, open_host_btrfs},
    {"reflink-image", nullptr, open_reflink_images},
    {"btrfs-image", "store.btrfs", open_btrfs_image},
    {"quota-image", "store.ext4", open_quota_image},
    {"loop-image", nullptr, open_loop_images},
    {"watched", nullptr, open_watched},
}};

// The kind that an earlier start chose: boxes of living sandboxes are in it, so no other will do.
std::string noted_kind(int state) {
    if (::faccessat(state, kNote, F_OK, 0) != 0) return {};
    std::string text = read_file(state, kNote);
    if (text.ends_with('\n')) text.pop_back();
    return text;
}

}  // namespace

std::unique_ptr<Store> open_store(const StoreOptions& options, const Staging& staging,
                                  std::vector<std::string>& probes) {
    return in("open store", [&] {
        const Fd state = make_directories(options.state_dir);
        const std::string noted = noted_kind(state.get());
        if (!noted.empty() && !options.only.empty() && noted != options.only) {
            throw Error{Errc::failed_precondition, "this state keeps its boxes by " + noted};
        }
        const std::string& wanted = noted.empty() ? options.only : noted;
        for (const Kind& kind : kKinds) {
            if (!wanted.empty() && wanted != kind.name) continue;
            try {
                std::unique_ptr<Store> store = kind.open(options, staging);
                if (noted.empty()) {
                    if (store->facts().bytes_hard) hold_to_limit(*store);
                    replace_file(state.get(), kNote, std::string{kind.name} + "\n");
                }
                return store;
            } catch (const Error& e) {
                probes.push_back(std::string{kind.name} + ": " + e.what());
                if (noted.empty() && kind.image != nullptr) ::unlinkat(state.get(), kind.image, 0);
            }
        }
        throw Error{Errc::unimplemented, "no way to keep sandboxes' files works here; last: " +
                                             (probes.empty() ? wanted : probes.back())};
    });
}

}  // namespace oyat::layers
