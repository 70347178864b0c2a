#pragma once

#include <sys/types.h>

namespace oyat::jail {

// While this lives, what the calling thread makes belongs to the host's user `uid`, and the thread keeps its
// capabilities. A user namespace made by root would be on root's account: the kernel counts inotify
// instances, waiting signals, timers and message queues of everybody inside there too, so that one sandbox
// could use up what all others and the host's own programs need.
class Owner {
public:
    explicit Owner(uid_t uid);
    Owner(const Owner&) = delete;
    Owner& operator=(const Owner&) = delete;
    ~Owner();

private:
    int bits_;
    int dumpable_;
};

}  // namespace oyat::jail
