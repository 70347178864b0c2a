// io_uring answers ENOSYS, so that libraries fall back.
#include <sys/syscall.h>

#include "guest.hpp"

int main() {
    Guest guest{"J-08"};
    guest.must_fail("io_uring_setup", syscall(SYS_io_uring_setup, 8, nullptr), {ENOSYS});
    guest.must_fail("io_uring_enter", syscall(SYS_io_uring_enter, -1, 0, 0, 0, nullptr, 0), {ENOSYS});
    guest.must_fail("io_uring_register", syscall(SYS_io_uring_register, -1, 0, nullptr, 0), {ENOSYS});
    // The older interface: its requests are counted for the machine as a whole.
    unsigned long context = 0;
    guest.must_fail("io_setup", syscall(SYS_io_setup, 128, &context), {ENOSYS});
    return guest.finish();
}
