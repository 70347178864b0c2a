#pragma once

#include "io/condition.hpp"

namespace oyat {

// Shut at first. Whoever comes to pass() waits until somebody opens it.
class Gate {
public:
    Task<> pass() {
        while (!open_) co_await changed_.wait();
    }
    void open() {
        open_ = true;
        changed_.notify_all();
    }
    void shut() noexcept { open_ = false; }
    [[nodiscard]] bool is_open() const noexcept { return open_; }

private:
    bool open_ = false;
    Condition changed_;
};

}  // namespace oyat
