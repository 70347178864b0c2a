// Overwriting the agent's program through /proc, while children of it are between fork and exec.
#include <fcntl.h>
#include <stdlib.h>

#include "guest.hpp"

int main() {
    Guest guest{"J-12"};
    int opened = 0;
    for (int i = 0; i < 10'000; ++i) {
        for (const char* path : {"/proc/1/exe", "/proc/1/map_files"}) {
            const int fd = open(path, O_WRONLY | O_CLOEXEC);
            if (fd >= 0) {
                ++opened;
                close(fd);
            }
        }
    }
    guest.must_hold("10,000 opens of /proc/1/exe for writing", opened == 0);
    // Any other process whose image is the agent's (just forked, not yet exec'ed): pids around the own one.
    int raced = 0;
    for (int i = 0; i < 10'000; ++i) {
        char path[64];
        snprintf(path, sizeof path, "/proc/%d/exe", getpid() + 1 + rand() % 64);
        char link[256];
        const ssize_t n = readlink(path, link, sizeof link - 1);
        if (n <= 0) continue;
        link[n] = 0;
        if (strstr(link, "memfd") == nullptr) continue;
        const int fd = open(path, O_WRONLY | O_CLOEXEC);
        if (fd >= 0) ++raced;
    }
    guest.must_hold("opens of a forked agent's image for writing", raced == 0);
    return guest.finish();
}
