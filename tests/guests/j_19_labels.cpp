// Security labels of the own process.
#include <fcntl.h>

#include "guest.hpp"

int main() {
    Guest guest{"J-19"};
    for (const char* path : {"/proc/self/attr/current", "/proc/self/attr/exec", "/proc/self/attr/fscreate",
                             "/proc/self/attr/sockcreate", "/proc/self/attr/apparmor/current",
                             "/proc/self/attr/apparmor/exec"}) {
        const int fd = open(path, O_WRONLY | O_CLOEXEC);
        guest.must_fail(path, fd < 0 ? fd : write(fd, "unconfined", 10), {EINVAL, EACCES, EPERM, ENOENT});
        if (fd >= 0) close(fd);
    }
    return guest.finish();
}
