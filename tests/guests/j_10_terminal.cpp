// Typing into a terminal that somebody else may read: TIOCSTI and TIOCLINUX on an own pty.
#include <fcntl.h>
#include <linux/tiocl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

#include "guest.hpp"

int main() {
    Guest guest{"J-10"};
    const int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
    if (master < 0 || grantpt(master) != 0 || unlockpt(master) != 0) return guest.finish();
    const int terminal = open(ptsname(master), O_RDWR | O_NOCTTY | O_CLOEXEC);
    char byte = 'x';
    guest.must_fail("ioctl TIOCSTI", ioctl(terminal, TIOCSTI, &byte), {EPERM});
    char sub = TIOCL_GETSHIFTSTATE;
    guest.must_fail("ioctl TIOCLINUX", ioctl(terminal, TIOCLINUX, &sub), {EPERM, ENOTTY});
    // The upper half of the request is ignored by the kernel and must be by the filter.
    guest.must_fail("ioctl TIOCSTI with high bits", syscall(16, terminal, 0xFFFFFFFF00005412ul, &byte),
                    {EPERM});
    int waiting = -1;
    ioctl(terminal, FIONREAD, &waiting);
    guest.must_hold("nothing was typed", waiting == 0);
    return guest.finish();
}
