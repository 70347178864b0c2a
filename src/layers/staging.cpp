#include "layers/staging.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/fsuid.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <linux/securebits.h>

#include "base/assert.hpp"
#include "base/throwing.hpp"
#include "layers/directory.hpp"

namespace oyat::layers {
namespace {

// The thread acts on files as the sandbox's root while this lives, keeping its capabilities.
class ActAs {
public:
    explicit ActAs(std::uint32_t id) : bits_{sys(::prctl(PR_GET_SECUREBITS), "read securebits")} {
        // Without this bit a change of the fsuid away from 0 drops the capabilities over files.
        sys(::prctl(PR_SET_SECUREBITS, bits_ | SECBIT_NO_SETUID_FIXUP), "set securebits");
        ::setfsgid(id);
        ::setfsuid(id);
    }
    ~ActAs() {
        ::setfsuid(0);
        ::setfsgid(0);
        OYAT_ASSERT(::prctl(PR_SET_SECUREBITS, bits_) == 0);
    }
    ActAs(const ActAs&) = delete;
    ActAs& operator=(const ActAs&) = delete;

private:
    int bits_;
};

// The layers of one overlay, attached below the working directory while this lives. The overlay keeps its own
// references to them.
class AttachedLayers {
public:
    explicit AttachedLayers(int slots) { sys(::fchdir(slots), "enter staging"); }
    ~AttachedLayers() {
        for (const std::string& name : names_) ::umount2(name.c_str(), MNT_DETACH);
        OYAT_ASSERT(::chdir("/") == 0);
    }
    AttachedLayers(const AttachedLayers&) = delete;
    AttachedLayers& operator=(const AttachedLayers&) = delete;

    void attach(int directory, const std::string& name, std::uint64_t attributes, int userns) {
        const Fd tree{sys(::open_tree(directory, "", AT_EMPTY_PATH | OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC),
                          "clone layer")};
        mount_attr attr{.attr_set = MOUNT_ATTR_IDMAP | attributes,
                        .userns_fd = static_cast<std::uint64_t>(userns)};
        sys(::mount_setattr(tree.get(), "", AT_EMPTY_PATH, &attr, sizeof attr), "map ids of layer");
        sys(::move_mount(tree.get(), "", AT_FDCWD, name.c_str(), MOVE_MOUNT_F_EMPTY_PATH), "attach layer");
        names_.push_back(name);
    }

private:
    std::vector<std::string> names_;
};

void set_option(int context, const char* key, const std::string& value) {
    sys(::fsconfig(context, FSCONFIG_SET_STRING, key, value.c_str(), 0), std::string{"overlay "} + key);
}

}  // namespace

Staging::Staging(const std::string& dir) : dir_{dir} {
    in("set up staging", [&] {
        sys(::unshare(CLONE_NEWNS), "make mount namespace");
        sys(::mount(nullptr, "/", nullptr, MS_REC | MS_SLAVE, nullptr), "keep mounts private");
        sys(::mount("oyat", dir.c_str(), "tmpfs", MS_NOSUID | MS_NODEV | MS_NOEXEC, "mode=0700,size=1m"),
            "mount " + dir);
        sys(::mkdir((dir + "/slots").c_str(), 0700), "mkdir slots");
        slots_ = open_directory(AT_FDCWD, dir + "/slots");
        sys(::mkdirat(slots_.get(), "b", 0700), "mkdir slot");
        for (std::size_t i = 0; i < kMostLayers; ++i) {
            sys(::mkdirat(slots_.get(), std::to_string(i).c_str(), 0700), "mkdir slot");
        }
        sys(::chdir("/"), "chdir /");
    });
}

Fd Staging::make_root(std::span<const int> lowers, int box, const IdRange& range) const {
    return in("make root file system", [&] {
        if (lowers.empty() || lowers.size() > kMostLayers) {
            throw Error{Errc::invalid_argument, std::to_string(lowers.size()) + " layers"};
        }
        AttachedLayers layers{slots_.get()};
        layers.attach(box, "b", MOUNT_ATTR_NODEV, range.userns);
        std::string names;
        for (std::size_t i = 0; i < lowers.size(); ++i) {
            const std::string name = std::to_string(i);
            layers.attach(lowers[i], name, MOUNT_ATTR_RDONLY | MOUNT_ATTR_NODEV, range.userns);
            names += (i == 0 ? "" : ":") + name;
        }
        const Fd context{sys(::fsopen("overlay", FSOPEN_CLOEXEC), "open overlay")};
        set_option(context.get(), "source", "oyat");
        set_option(context.get(), "lowerdir", names);
        set_option(context.get(), "upperdir", "b/u");
        set_option(context.get(), "workdir", "b/w");
        sys(::fsconfig(context.get(), FSCONFIG_SET_FLAG, "volatile", nullptr, 0), "overlay volatile");
        {
            // The work directory is made with the maker's ids, which must be ids of the map: else the kernel
            // mounts the overlay read-only and reports success.
            const ActAs sandbox_root{range.base};
            sys(::fsconfig(context.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0), "make overlay");
        }
        Fd root{sys(::fsmount(context.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NODEV | MOUNT_ATTR_NOATIME),
                    "mount overlay")};
        struct statvfs facts{};
        sys(::fstatvfs(root.get(), &facts), "look at overlay");
        if ((facts.f_flag & ST_RDONLY) != 0) throw Error{Errc::internal, "the overlay came out read-only"};
        return root;
    });
}

std::string Staging::mount_point(std::string_view name) const {
    std::string path = (dir_ + "/").append(name);
    (void)make_directory(AT_FDCWD, path, 0700);
    return path;
}

}  // namespace oyat::layers
