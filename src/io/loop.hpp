#pragma once

#include <memory>
#include <vector>

#include "io/task.hpp"

namespace oyat {

// One thread's event loop. The thread that calls run() is the only one that runs its coroutines.
class Loop {
public:
    Loop();
    ~Loop();
    Loop(const Loop&) = delete;
    Loop& operator=(const Loop&) = delete;

    [[nodiscard]] Executor executor() const;
    // Runs the task and everything that it starts, until it has ended; throws its exception. May be called
    // again.
    void run(Task<> task);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

// Waits for one of these signals (SIGTERM, SIGHUP, ...) and returns it. From the first call on the signal no
// longer has its default effect.
Task<int> wait_signal(std::vector<int> signals);

}  // namespace oyat
