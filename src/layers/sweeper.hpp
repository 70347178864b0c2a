#pragma once

#include <sys/types.h>

#include "base/fd.hpp"
#include "layers/store.hpp"

namespace oyat::layers {

// Removes discarded boxes in a forked child of low priority, one child at a time: a tree of a million
// files takes seconds, and the keeper has none to spare.
class Sweeper {
public:
    explicit Sweeper(Store& store) : store_{store} {}
    ~Sweeper();  // ends the child; what it left is removed by the next one
    Sweeper(const Sweeper&) = delete;
    Sweeper& operator=(const Sweeper&) = delete;

    // Starts a child if there is trash and none runs. Call after discard() and once at start.
    void kick();
    // The child's pidfd, readable at its end, or -1. Then call reap(), which starts the next if there is
    // more. False when the child failed; its trash stays for the next one.
    [[nodiscard]] int fd() const noexcept { return pidfd_.get(); }
    bool reap();
    // Waits until no trash is left, or until a child fails (a clean stop).
    void finish();

private:
    Store& store_;
    Fd pidfd_;
    pid_t pid_ = -1;
};

}  // namespace oyat::layers
