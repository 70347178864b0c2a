#include "engine/microvm/cage.hpp"

#include <fcntl.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <utility>

#include "base/fd.hpp"
#include "base/throwing.hpp"

namespace oyat::microvm {
namespace {

constexpr unsigned long kReadOnly = MS_RDONLY | MS_NOSUID | MS_NODEV;

void make_file(const std::string& path) {
    const Fd file{sys(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0444), "make " + path)};
}

void make_directory(const std::string& path) {
    sys(::mkdir(path.c_str(), 0755), "make " + path);
}

void bind_mount(const std::string& source, const std::string& target) {
    sys(::mount(source.c_str(), target.c_str(), nullptr, MS_BIND, nullptr), "bind " + source);
}

void bind_read_only(const std::string& source, const std::string& target) {
    bind_mount(source, target);
    sys(::mount(nullptr, target.c_str(), nullptr, MS_REMOUNT | MS_BIND | kReadOnly, nullptr),
        "seal " + source);
}

// /lib and its like: links into /usr, or directories where the host has not merged them.
void show_system(const std::string& root) {
    make_directory(root + "/usr");
    bind_read_only("/usr", root + "/usr");
    for (const std::string name : {"/lib", "/lib64"}) {
        if (std::filesystem::is_symlink(name)) {
            std::filesystem::copy_symlink(name, root + name);
        } else if (std::filesystem::is_directory(name)) {
            make_directory(root + name);
            bind_read_only(name, root + name);
        }
    }
    make_directory(root + "/etc");
    make_file(root + "/etc/ld.so.cache");
    bind_read_only("/etc/ld.so.cache", root + "/etc/ld.so.cache");
}

void make_device(const std::string& path, unsigned major, unsigned minor) {
    sys(::mknod(path.c_str(), S_IFCHR | 0666, makedev(major, minor)), "make " + path);
    sys(::chmod(path.c_str(), 0666), "open " + path);  // the umask took some of it
}

void show_devices(const std::string& root, bool with_kvm) {
    make_directory(root + "/dev");
    make_device(root + "/dev/null", 1, 3);
    make_device(root + "/dev/zero", 1, 5);
    make_device(root + "/dev/urandom", 1, 9);
    if (with_kvm) make_device(root + "/dev/kvm", 10, 232);
}

}  // namespace

ShownFile show_file(const std::string& path, std::string name) {
    return {.mount = Fd{static_cast<int>(
                sys(::syscall(SYS_open_tree, AT_FDCWD, path.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC),
                    "show " + path))},
            .name = std::move(name)};
}

void enter_cage(const std::string& mount_point, const std::vector<ShownFile>& files, bool with_kvm) {
    // What is mounted from here on must not reach the keeper.
    sys(::mount(nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr), "make mounts private");
    sys(::mount("oyat-microvm", mount_point.c_str(), "tmpfs", MS_NOSUID | MS_NOEXEC, "size=1m,mode=0755"),
        "mount a tmpfs");
    const std::string root = mount_point;
    show_system(root);
    show_devices(root, with_kvm);
    make_directory(root + "/vm");
    for (const ShownFile& file : files) {
        const std::string place = root + "/vm/" + file.name;
        make_file(place);
        sys(::syscall(SYS_move_mount, file.mount.get(), "", AT_FDCWD, place.c_str(), MOVE_MOUNT_F_EMPTY_PATH),
            "show " + file.name);
    }
    make_directory(root + "/proc");
    sys(::mount("proc", (root + "/proc").c_str(), "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr),
        "mount proc");
    sys(::mount(nullptr, root.c_str(), nullptr, MS_REMOUNT | MS_BIND | MS_RDONLY | MS_NOSUID | MS_NOEXEC,
                nullptr),
        "seal the tmpfs");
    sys(::chdir(root.c_str()), "enter the cage");
    sys(::syscall(SYS_pivot_root, ".", "."), "pivot_root");
    sys(::umount2(".", MNT_DETACH), "leave the host's files");
    sys(::chdir("/"), "enter the cage");
}

}  // namespace oyat::microvm
