// System calls through the 32-bit gates and beyond the newest number must never be executed.
#include <sys/syscall.h>

#include "guest.hpp"

namespace {

// getpid of the i386 table through its own gate.
int through_int80() {
    long result = 20;
    asm volatile("int $0x80" : "+a"(result)::"memory", "r8", "r9", "r10", "r11");
    return result == getpid() ? 1 : 0;
}

int through_x32() {
    return syscall(0x40000000L | SYS_getpid) == getpid() ? 1 : 0;
}

}  // namespace

int main() {
    Guest guest{"J-09"};
    // A killed child (128 + signal) is a refusal as well; 1 would mean that getpid answered.
    guest.must_hold("getpid by int 0x80", in_child(through_int80) != 1);
    guest.must_hold("getpid by x32", in_child(through_x32) != 1);
    guest.must_fail("number 100000", syscall(100'000), {ENOSYS, EPERM});
    guest.must_fail("number 2^30-1", syscall(0x3FFFFFFF), {ENOSYS, EPERM});
    return guest.finish();
}
