// Leaving the root directory: the classical double chroot, chains of "..", and a kept directory descriptor.
#include <fcntl.h>
#include <sys/stat.h>

#include "guest.hpp"

int main() {
    Guest guest{"J-15"};
    struct stat root{};
    struct stat seen{};
    stat("/", &root);
    const auto same = [&] { return seen.st_ino == root.st_ino && seen.st_dev == root.st_dev; };
    stat("/../../../../..", &seen);
    guest.must_hold("/../.. is the root", same());
    const int escaped = in_child([&] {
        if (geteuid() != 0) return 0;
        const int kept = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        mkdir("/tmp/jail15", 0755);
        if (chroot("/tmp/jail15") != 0) return 0;
        if (fchdir(kept) != 0) return 0;
        for (int i = 0; i < 64; ++i) {
            if (chdir("..") != 0) break;
        }
        if (chroot(".") != 0) return 0;
        struct stat now{};
        stat("/", &now);
        return now.st_ino == root.st_ino && now.st_dev == root.st_dev ? 0 : 1;
    });
    guest.must_hold("double chroot ends at the own root", escaped == 0);
    guest.must_hold("pid 1 leads to no other root", access("/proc/1/root/etc", F_OK) != 0);
    return guest.finish();
}
