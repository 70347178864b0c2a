// Control groups: nothing to write anywhere, and no way to mount one.
#include <fcntl.h>
#include <ftw.h>
#include <sys/syscall.h>

#include "guest.hpp"

namespace {

int writable = 0;

int look(const char* path, const struct stat*, int kind, struct FTW*) {
    if (kind != FTW_F) return 0;
    const char* name = strrchr(path, '/') + 1;
    const bool group_file = strncmp(name, "cgroup.", 7) == 0 || strncmp(name, "memory.", 7) == 0 ||
                            strncmp(name, "pids.", 5) == 0 || strncmp(name, "cpu.", 4) == 0 ||
                            strcmp(name, "release_agent") == 0 || strcmp(name, "notify_on_release") == 0 ||
                            strcmp(name, "tasks") == 0;
    if (!group_file) return 0;
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    if (fd >= 0) {
        ++writable;
        printf("writable: %s\n", path);
        close(fd);
    }
    return 0;
}

}  // namespace

int main() {
    Guest guest{"J-16"};
    nftw("/sys", look, 32, FTW_PHYS);
    guest.must_hold("no writable group file below /sys", writable == 0);
    guest.must_fail("mount cgroup2", syscall(SYS_mount, "x", "/tmp", "cgroup2", 0, nullptr), {EPERM});
    guest.must_fail("mount cgroup v1", syscall(SYS_mount, "x", "/tmp", "cgroup", 0, "memory"), {EPERM});
    FILE* own = fopen("/proc/self/cgroup", "re");
    char line[512];
    bool host_names = false;
    while (own != nullptr && fgets(line, sizeof line, own) != nullptr) {
        host_names = host_names || strstr(line, "/..") != nullptr || strstr(line, "oyat") != nullptr;
    }
    guest.must_hold("/proc/self/cgroup shows no host group", !host_names);
    return guest.finish();
}
