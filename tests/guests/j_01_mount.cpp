// Mounts in every form. Dummy arguments: a call that was let in would answer EFAULT, EINVAL or ENOENT
// instead.
#include <linux/mount.h>
#include <sys/mount.h>
#include <sys/syscall.h>

#include "guest.hpp"

int main() {
    Guest guest{"J-01"};
    guest.must_fail("mount", syscall(SYS_mount, nullptr, "/", nullptr, MS_REC | MS_PRIVATE, nullptr),
                    {EPERM});
    guest.must_fail("mount tmpfs", syscall(SYS_mount, "x", "/tmp", "tmpfs", 0, nullptr), {EPERM});
    guest.must_fail("umount2", syscall(SYS_umount2, "/proc", MNT_DETACH), {EPERM});
    guest.must_fail("pivot_root", syscall(SYS_pivot_root, ".", "."), {EPERM});
    guest.must_fail("fsopen", syscall(SYS_fsopen, "tmpfs", 0), {EPERM});
    guest.must_fail("fsconfig", syscall(SYS_fsconfig, -1, 0, nullptr, nullptr, 0), {EPERM});
    guest.must_fail("fsmount", syscall(SYS_fsmount, -1, 0, 0), {EPERM});
    guest.must_fail("fspick", syscall(SYS_fspick, -1, "/", 0), {EPERM});
    guest.must_fail("move_mount", syscall(SYS_move_mount, -1, "", -1, "", 0), {EPERM});
    guest.must_fail("open_tree", syscall(SYS_open_tree, -100, "/", 1), {EPERM});
    guest.must_fail("mount_setattr", syscall(SYS_mount_setattr, -100, "/", 0, nullptr, 0), {EPERM});
    return guest.finish();
}
