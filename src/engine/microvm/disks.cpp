#include "engine/microvm/disks.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/sha256.hpp"
#include "base/throwing.hpp"
#include "engine/microvm/files.hpp"
#include "layers/child_job.hpp"
#include "layers/program.hpp"

namespace oyat::microvm {
namespace {

constexpr std::uint64_t kLeastBytesPerInode = 4096;

std::string linked_path(int fd) {
    const std::string link = "/proc/self/fd/" + std::to_string(fd);
    std::array<char, 4096> path{};
    const ssize_t length = sys(::readlink(link.c_str(), path.data(), path.size()), "name of a layer");
    return {path.data(), static_cast<std::size_t>(length)};
}

// The layers as one tree at a path, in a mount namespace of this process's own: mkfs looks for its source by
// name, and would take what lies at that name in the host for it.
std::string merge(const std::string& mount_point, std::span<const int> lowers) {
    std::vector<Fd> trees;
    for (const int layer : lowers) {
        trees.emplace_back(
            sys(::syscall(SYS_open_tree, layer, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC),
                "take a layer"));
    }
    sys(::unshare(CLONE_NEWNS), "make a mount namespace");
    sys(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "make mounts private");
    sys(::mount("oyat-base", mount_point.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, "size=1m,mode=0700"),
        "mount a tmpfs");
    std::string options;
    for (std::size_t n = 0; n < trees.size(); ++n) {
        const std::string place = mount_point + "/" + std::to_string(n);
        sys(::mkdir(place.c_str(), 0700), "make " + place);
        sys(::syscall(SYS_move_mount, trees[n].get(), "", AT_FDCWD, place.c_str(), MOVE_MOUNT_F_EMPTY_PATH),
            "attach a layer");
        options += (n == 0 ? "lowerdir=" : ":") + place;
    }
    if (trees.size() == 1) return mount_point + "/0";
    std::string merged = mount_point + "/merged";
    sys(::mkdir(merged.c_str(), 0700), "make " + merged);
    sys(::mount("overlay", merged.c_str(), "overlay", MS_RDONLY, options.c_str()), "merge the layers");
    return merged;
}

}  // namespace

std::string base_prefix(std::string_view template_digest) {
    return sha256_hex(template_digest).substr(0, 16) + "-";
}

std::string base_name(std::string_view template_digest, std::span<const int> lowers) {
    Sha256 hash;
    hash.update(template_digest);
    for (const int layer : lowers) {
        struct stat status{};
        sys(::fstat(layer, &status), "stat a layer");
        hash.update("\n" + linked_path(layer) + " " + std::to_string(status.st_ino) + " " +
                    std::to_string(status.st_mtim.tv_sec) + "." + std::to_string(status.st_mtim.tv_nsec));
    }
    return base_prefix(template_digest) + to_hex(hash.finish()).substr(0, 16);
}

std::string base_file(const Places& places, const std::string& name) {
    return places.bases() + "/" + name + ".erofs";
}

void make_base(const Places& places, const std::string& name, std::span<const int> lowers) {
    const std::string file = base_file(places, name);
    if (exists(file)) return;
    const Fd lock = hold_lock(places.bases() + "/" + name + ".lock");
    if (exists(file)) return;
    const std::string draft = file + ".new";
    ::unlink(draft.c_str());
    // Without compression: no machine starts faster with it, and making it takes a second for each 40 MB.
    layers::JobReporter nobody{-1};
    layers::run_apart(nobody, [&](layers::JobReporter&) {
        layers::run_program({"mkfs.erofs", "--quiet", "-T0", draft, merge(places.cage(), lowers)});
    });
    const Fd image = open_file(draft, O_RDONLY);
    sys(::fchmod(image.get(), 0444), "protect " + draft);
    sys(::fsync(image.get()), "sync " + draft);
    sys(::rename(draft.c_str(), file.c_str()), "put " + file + " in place");
}

void format_disk(const std::string& path, std::uint64_t bytes, std::uint64_t inodes) {
    {
        const Fd file = open_file(path, O_RDWR | O_CREAT | O_EXCL);
        sys(::ftruncate(file.get(), static_cast<off_t>(bytes)), "size " + path);
    }
    std::vector<std::string> words{"mkfs.ext4",
                                   "-q",
                                   "-F",
                                   "-m",
                                   "0",
                                   "-O",
                                   "^has_journal,^resize_inode",
                                   "-E",
                                   "lazy_itable_init=1,nodiscard,root_owner=0:0"};
    if (inodes != 0) {
        words.insert(words.end(), {"-N", std::to_string(std::min(inodes, bytes / kLeastBytesPerInode))});
    }
    words.push_back(path);
    layers::run_program(std::move(words));
}

}  // namespace oyat::microvm
