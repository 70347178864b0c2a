#pragma once

#include <cstddef>

#include "io/task.hpp"

namespace oyat {

// Lets coroutines of one loop wait for each other: the base of Gate and Channel. As with any condition
// variable, what is waited for is asked again afterwards. Not for use across threads (see post.hpp).
class Condition {
public:
    Condition() = default;
    Condition(const Condition&) = delete;
    Condition& operator=(const Condition&) = delete;
    ~Condition();  // those who still wait get Error{canceled}

    // Returns after a notify that came later than this call. Woken in the order of waiting, on a later turn
    // of the loop, never inside notify. Throws Error{canceled} when its coroutine is canceled; a wake-up that
    // arrives together with that goes to the next in line.
    Task<> wait();
    // The same, but cannot be canceled: for ends that must be awaited whatever happens.
    Task<> wait_uncanceled();

    void notify_one();
    void notify_all();
    [[nodiscard]] bool has_waiters() const noexcept { return waiting_.first != nullptr; }

private:
    struct Waiter;
    // The waiters live in the frames of their coroutines and are only linked here.
    struct Queue {
        Waiter* first = nullptr;
        Waiter* last = nullptr;
        void append(Waiter& waiter) noexcept;
        void unlink(Waiter& waiter) noexcept;
    };

    Queue waiting_;
    Queue woken_;  // told, but not yet running again
};

}  // namespace oyat
