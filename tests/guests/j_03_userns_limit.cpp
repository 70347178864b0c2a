// Raising the limit that keeps nested user namespaces closed.
#include <fcntl.h>

#include "guest.hpp"

int main() {
    Guest guest{"J-03"};
    for (const char* path :
         {"/proc/sys/user/max_user_namespaces", "/proc/self/root/proc/sys/user/max_user_namespaces",
          "/proc/1/root/proc/sys/user/max_user_namespaces"}) {
        const int fd = open(path, O_WRONLY | O_CLOEXEC);
        guest.must_fail(path, fd < 0 ? fd : write(fd, "10", 2), {EPERM, EACCES, EROFS, ENOENT});
        if (fd >= 0) close(fd);
    }
    return guest.finish();
}
