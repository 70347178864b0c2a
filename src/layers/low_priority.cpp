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
    ::setpriority(PRIO_PROCESS, 0, 19);
    ::syscall(SYS_ioprio_set, IOPRIO_WHO_PROCESS, 0, IOPRIO_PRIO_VALUE(IOPRIO_CLASS_IDLE, 0));
    return kKept;
}

}  // namespace oyat::layers
