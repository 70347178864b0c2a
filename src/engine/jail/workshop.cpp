#include "engine/jail/workshop.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>

#include "base/id.hpp"
#include "base/throwing.hpp"
#include "engine/jail/facts.hpp"

namespace oyat::jail {
namespace {

struct Node {
    const char* name;
    unsigned minor;
    unsigned major = 1;
};
constexpr std::array kNodes{Node{"null", 3},   Node{"zero", 5},    Node{"full", 7},
                            Node{"random", 8}, Node{"urandom", 9}, Node{"tty", 0, 5}};

struct Link {
    const char* name;
    const char* target;
};
constexpr std::array kLinks{Link{"fd", "/proc/self/fd"}, Link{"stdin", "/proc/self/fd/0"},
                            Link{"stdout", "/proc/self/fd/1"}, Link{"stderr", "/proc/self/fd/2"},
                            Link{"ptmx", "pts/ptmx"}};
constexpr std::array kMountPoints{"pts", "shm", "mqueue"};

// /sys is a few directories: for the sandbox's own control groups, and for glibc, which counts processors
// there.
constexpr std::array kFactDirs{
    "proc", "sys", "sys/fs", "sys/fs/cgroup", "sys/devices", "sys/devices/system", "sys/devices/system/cpu"};

Fd new_tmpfs(const char* size, const char* inodes) {
    const Fd fs{sys(::fsopen("tmpfs", FSOPEN_CLOEXEC), "open a tmpfs")};
    sys(::fsconfig(fs.get(), FSCONFIG_SET_STRING, "source", "oyat", 0), "name a tmpfs");
    sys(::fsconfig(fs.get(), FSCONFIG_SET_STRING, "mode", "0755", 0), "set the mode of a tmpfs");
    sys(::fsconfig(fs.get(), FSCONFIG_SET_STRING, "size", size, 0), "set the size of a tmpfs");
    sys(::fsconfig(fs.get(), FSCONFIG_SET_STRING, "nr_inodes", inodes, 0), "set the inodes of a tmpfs");
    sys(::fsconfig(fs.get(), FSCONFIG_CMD_CREATE, nullptr, nullptr, 0), "create a tmpfs");
    return Fd{
        sys(::fsmount(fs.get(), FSMOUNT_CLOEXEC, MOUNT_ATTR_NOSUID | MOUNT_ATTR_NOEXEC), "mount a tmpfs")};
}

void make_device_tree(int work_dir) {
    const Fd tree = new_tmpfs("64k", "64");
    for (const Node& node : kNodes) {
        sys(::mknodat(tree.get(), node.name, S_IFCHR | 0666, ::makedev(node.major, node.minor)),
            "make a device node");
        sys(::fchmodat(tree.get(), node.name, 0666, 0), "open a device node to all");
    }
    for (const Link& link : kLinks)
        sys(::symlinkat(link.target, tree.get(), link.name), "link in the device tree");
    for (const char* name : kMountPoints) sys(::mkdirat(tree.get(), name, 0755), "make a mount point");
    mount_attr read_only{};
    read_only.attr_set = MOUNT_ATTR_RDONLY;
    sys(::mount_setattr(tree.get(), "", AT_EMPTY_PATH, &read_only, sizeof read_only),
        "make the device tree read-only");
    sys(::move_mount(tree.get(), "", work_dir, "dev", MOVE_MOUNT_F_EMPTY_PATH), "attach the device tree");
}

}  // namespace

Workshop::Workshop(const std::string& dir, const CgroupView& cgroup_view)
    : fact_dirs_{kFactDirs.begin(), kFactDirs.end()} {
    for (const std::string& name : cgroup_view.directories()) fact_dirs_.push_back("sys/" + name);
    for (const FactFile file : kFactFiles) fact_files_.emplace_back(path_inside(file));
    in("jail workshop", [&] {
        // 25 inodes a jail; a page each for the seven that have content.
        const Fd tmpfs = new_tmpfs("512m", "400000");
        sys(::move_mount(tmpfs.get(), "", AT_FDCWD, dir.c_str(), MOVE_MOUNT_F_EMPTY_PATH),
            "attach the tmpfs");
        dir_.reset(sys(::open(dir.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC), "open it"));
        for (const char* name : {"root", "dev", "facts", "empty"}) {
            sys(::mkdirat(dir_.get(), name, 0755), "make a directory");
            sys(::fchmodat(dir_.get(), name, 0755, 0), "open a directory to all");
        }
        Fd{sys(::openat(dir_.get(), "blank", O_CREAT | O_WRONLY | O_CLOEXEC, 0444), "make a blank file")};
        make_device_tree(dir_.get());
    });
}

void Workshop::enter() const {
    sys(::fchdir(dir_.get()), "enter the jail workshop");
}

void Workshop::make_facts(std::string_view id) const {
    const std::string home = "facts/" + std::string{id};
    sys(::mkdirat(dir_.get(), home.c_str(), 0755), "make the fact files");
    for (const std::string& name : fact_dirs_) {
        sys(::mkdirat(dir_.get(), (home + "/" + name).c_str(), 0755), "make the fact files");
    }
    for (const std::string& name : fact_files_) {
        const int flags = O_CREAT | O_WRONLY | O_CLOEXEC;
        Fd{sys(::openat(dir_.get(), (home + "/" + name).c_str(), flags, 0444), "make the fact files")};
    }
    const Fd boot{
        sys(::openat(dir_.get(), (home + "/" + kBootId).c_str(), O_CREAT | O_WRONLY | O_CLOEXEC, 0444),
            "make the id of its start")};
    const std::string text = new_uuid() + "\n";
    sys(::write(boot.get(), text.data(), text.size()), "write the id of its start");
}

void Workshop::remove_facts(std::string_view id) const noexcept {
    const std::string home = "facts/" + std::string{id};
    ::unlinkat(dir_.get(), (home + "/" + kBootId).c_str(), 0);
    for (const std::string& name : fact_files_) ::unlinkat(dir_.get(), (home + "/" + name).c_str(), 0);
    for (std::size_t at = fact_dirs_.size(); at-- > 0;) {
        ::unlinkat(dir_.get(), (home + "/" + fact_dirs_[at]).c_str(), AT_REMOVEDIR);
    }
    ::unlinkat(dir_.get(), home.c_str(), AT_REMOVEDIR);
}

}  // namespace oyat::jail
