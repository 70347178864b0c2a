// Device nodes: made by mknod, and opened where they would be dangerous.
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#include "guest.hpp"

int main() {
    Guest guest{"J-04"};
    guest.must_fail("mknod char 1:1", mknod("/tmp/mem", S_IFCHR | 0600, makedev(1, 1)), {EPERM});
    guest.must_fail("mknod block 254:0", mknod("/tmp/disk", S_IFBLK | 0600, makedev(254, 0)), {EPERM});
    guest.must_fail("mknod char 0:0", mknod("/tmp/whiteout", S_IFCHR | 0600, makedev(0, 0)), {EPERM});
    for (const char* path : {"/dev/mem", "/dev/kmem", "/dev/kmsg", "/dev/kvm", "/dev/fuse", "/dev/net/tun",
                             "/dev/loop-control", "/dev/vda", "/dev/sda", "/dev/port"}) {
        guest.must_fail(path, open(path, O_RDONLY | O_CLOEXEC), {ENOENT, EPERM, EACCES});
    }
    return guest.finish();
}
