#include "layers/low_priority.hpp"

#include <linux/close_range.h>
#include <linux/ioprio.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace oyat::layers {

int become_low_priority_with(int fd) {
    constexpr int kKept = 3;
    ::dup2(fd, kKept);
    ::syscall(SYS_close_range, kKept + 1, ~0U, 0);
    // Below everybody, but not last: on a busy machine nice 19 got so little that a thousand dead sandboxes
    // kept their disk for minutes.
    ::setpriority(PRIO_PROCESS, 0, 5);
    ::syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_BE, 7));
    return kKept;
}

}  // namespace oyat::layers
