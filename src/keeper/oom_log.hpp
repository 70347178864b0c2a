#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/fd.hpp"

namespace oyat::keeper {

// A process that the kernel killed because its control group had reached its memory limit.
struct OomVictim {
    std::string group;  // path of the process's group
    std::string name;   // at most 15 bytes, chosen by the sandbox: hostile
    pid_t pid = 0;      // on the host
};

// A record of /dev/kmsg, if it tells of such a kill:
// "4,1130,5140900,-;oom-kill:constraint=CONSTRAINT_MEMCG,...,task_memcg=/a/b,task=python3,pid=77,uid=0"
[[nodiscard]] std::optional<OomVictim> parse_oom_record(std::string_view record);

// The kernel's log from now on. It names the victims, which the control groups' counters do not; but it may
// be absent, and the kernel limits its rate, so that a kill may also be known by the counter alone.
class OomLog {
public:
    OomLog();

    // To poll, or -1 where the log can't be read.
    [[nodiscard]] int fd() const noexcept { return log_.get(); }
    [[nodiscard]] std::vector<OomVictim> take();

private:
    Fd log_;
};

}  // namespace oyat::keeper
