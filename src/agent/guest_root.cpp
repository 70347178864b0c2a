#include "agent/guest_root.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <array>

#include "agent/guest.hpp"

namespace oyat::agent {
namespace {

void mount_or_end(const char* source, const char* target, const char* type, unsigned long flags,
                  const char* options = nullptr) {
    if (::mount(source, target, type, flags, options) != 0) guest_fails(target);
}

struct Node {
    const char* path;
    unsigned major;
    unsigned minor;
};
constexpr std::array kNodes{Node{"dev/null", 1, 3},   Node{"dev/zero", 1, 5},    Node{"dev/full", 1, 7},
                            Node{"dev/random", 1, 8}, Node{"dev/urandom", 1, 9}, Node{"dev/tty", 5, 0}};

struct Link {
    const char* path;
    const char* target;
};
constexpr std::array kLinks{Link{"dev/fd", "/proc/self/fd"}, Link{"dev/stdin", "/proc/self/fd/0"},
                            Link{"dev/stdout", "/proc/self/fd/1"}, Link{"dev/stderr", "/proc/self/fd/2"},
                            Link{"dev/ptmx", "pts/ptmx"}};

// In the new root. Disks and the port to the host are not among them.
void make_devices() {
    mount_or_end("tmpfs", "dev", "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=0755,size=64k,nr_inodes=64");
    for (const Node& node : kNodes) {
        if (::mknod(node.path, S_IFCHR | 0666, ::makedev(node.major, node.minor)) != 0)
            guest_fails(node.path);
        ::chmod(node.path, 0666);
    }
    for (const Link& link : kLinks) static_cast<void>(::symlink(link.target, link.path));
    for (const char* directory : {"dev/pts", "dev/shm", "dev/mqueue"}) ::mkdir(directory, 0755);
    mount_or_end("devpts", "dev/pts", "devpts", MS_NOSUID | MS_NOEXEC, "ptmxmode=0666,mode=0620,max=64");
    mount_or_end("tmpfs", "dev/shm", "tmpfs", kPlainMount, "size=64m,nr_inodes=4096,mode=1777");
}

void write_file(const char* path, const std::string& text) {
    const Fd file{::open(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0644)};
    if (file) static_cast<void>(::write(file.get(), text.data(), text.size()));
}

}  // namespace

Fd enter_root(const GuestDisks& disks) {
    for (const char* directory : {"/base", "/upper", "/new"}) ::mkdir(directory, 0755);
    mount_or_end(disks.base.c_str(), "/base", "erofs", MS_RDONLY | MS_NODEV);
    mount_or_end(disks.upper.c_str(), "/upper", "ext4", MS_NOATIME | MS_NODEV);
    for (const char* directory : {"/upper/u", "/upper/w"}) ::mkdir(directory, 0755);
    mount_or_end("overlay", "/new", "overlay", MS_NOATIME,
                 "lowerdir=/base,upperdir=/upper/u,workdir=/upper/w,redirect_dir=off,index=off,metacopy=off");
    if (::chdir("/new") != 0) guest_fails("enter the new root");
    // A template without the mount points gets them.
    for (const char* directory : {"proc", "dev", "sys"}) ::mkdir(directory, 0755);
    make_devices();
    mount_or_end("proc", "proc", "proc", kPlainMount);
    mount_or_end("sysfs", "sys", "sysfs", kPlainMount);
    mount_or_end("cgroup2", "sys/fs/cgroup", "cgroup2", kPlainMount);
    for (const char* old : {"/proc", "/sys", "/dev"}) ::umount2(old, MNT_DETACH);
    // The first root of all can't be pivoted away from; it is covered.
    mount_or_end(".", "/", nullptr, MS_MOVE);
    if (::chroot(".") != 0 || ::chdir("/") != 0) guest_fails("enter the new root");

    ::mkdir("/sys/fs/cgroup/commands", 0755);
    Fd group{::open("/sys/fs/cgroup/commands", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    if (!group) guest_fails("make a control group");
    return group;
}

void name_machine(const std::string& id) {
    if (::sethostname(id.data(), id.size()) != 0) guest_fails("set the host name");
    write_file("/etc/hostname", id + "\n");
    write_file("/etc/hosts",
               "127.0.0.1 localhost\n::1 localhost ip6-localhost ip6-loopback\n127.0.1.1 " + id + "\n");
}

}  // namespace oyat::agent
