#include "engine/gvisor/run_view.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <optional>
#include <string>
#include <vector>

#include "base/fd.hpp"
#include "base/throwing.hpp"

namespace oyat::gvisor {
namespace {

struct Piece {
    const char* path;
    Fd tree;
};

// A copy of what the descriptor stands for, attached nowhere: only out of our own mount namespace can one be
// taken, so it is before we leave that.
Fd copy_of(int fd, std::uint64_t attributes) {
    Fd tree{sys(::open_tree(fd, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC), "copy a mount")};
    mount_attr attr{.attr_set = attributes};
    if (attributes != 0) {
        sys(::mount_setattr(tree.get(), "", AT_EMPTY_PATH, &attr, sizeof attr), "restrict a mount");
    }
    return tree;
}

bool is_directory(int fd) {
    struct stat facts{};
    sys(::fstat(fd, &facts), "stat a piece");
    return S_ISDIR(facts.st_mode);
}

void attach(const Piece& piece) {
    if (is_directory(piece.tree.get())) {
        sys(::mkdir(piece.path, 0755), "make a mount point");
    } else {
        Fd{sys(::open(piece.path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644), "make a mount point")};
    }
    sys(::move_mount(piece.tree.get(), "", AT_FDCWD, piece.path, MOVE_MOUNT_F_EMPTY_PATH), "attach a piece");
}

}  // namespace

void enter_run_view(const ViewPieces& pieces) {
    in("make the view of runsc", [&] {
        constexpr std::uint64_t inert = MOUNT_ATTR_NOSUID | MOUNT_ATTR_NODEV;
        std::vector<Piece> made;
        const auto add = [&](const char* path, int fd, std::uint64_t attributes) {
            if (fd >= 0) made.push_back({path, copy_of(fd, attributes)});
        };
        add("/run/state", pieces.state, inert | MOUNT_ATTR_NOEXEC);
        add("/run/door", pieces.door, inert | MOUNT_ATTR_NOEXEC | MOUNT_ATTR_RDONLY);
        add("/run/agent", pieces.agent, inert | MOUNT_ATTR_RDONLY);
        add("/run/net", pieces.network, 0);
        add("/run/image", pieces.image, inert | MOUNT_ATTR_NOEXEC);
        sys(::unshare(CLONE_NEWNS), "make a mount namespace");
        sys(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "make mounts private");
        sys(::mount("oyat", "/run", "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0755,size=1m"),
            "mount /run");
        for (const Piece& piece : made) attach(piece);
        if (pieces.root >= 0) {
            sys(::mkdir("/run/root", 0755), "make a mount point");
            sys(::move_mount(pieces.root, "", AT_FDCWD, "/run/root", MOVE_MOUNT_F_EMPTY_PATH),
                "attach the root");
        }
    });
}

void write_bundle(std::string_view text) {
    sys(::mkdir("/run/bundle", 0755), "make the bundle");
    const Fd file{sys(::open("/run/bundle/config.json", O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644),
                      "make the bundle")};
    sys(::write(file.get(), text.data(), text.size()), "write the bundle");
}

}  // namespace oyat::gvisor
