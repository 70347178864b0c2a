#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "io/race.hpp"
#include "io/task.hpp"

namespace oyat {

// co_await sleep_for(100ms), on the loop of the calling coroutine.
Task<> sleep_for(std::chrono::nanoseconds duration);

// Lets everything else that is ready on this loop run first.
Task<> yield_now();

// Calls a function once when its time has come, on the loop. Arming again moves the time and costs next to
// nothing when it moves later, as deadlines of busy connections do.
class Timer {
public:
    Timer(Executor executor, std::function<void()> on_expiry);
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;
    ~Timer();  // never called afterwards

    void arm(std::chrono::nanoseconds from_now);
    void disarm() noexcept;
    [[nodiscard]] bool armed() const noexcept;

private:
    struct State;
    std::shared_ptr<State> state_;  // shared with the pending wait
};

// Throws Error{deadline, "<what>: not done within <limit>"} when the task takes longer; the task is then
// canceled and has ended. A task that ended together with the limit wins.
Task<> with_timeout(Millis limit, std::string what, Task<> task);

template <class T>
Task<T> with_timeout(Millis limit, std::string what, Task<T> task) {
    std::optional<T> value;
    co_await with_timeout(limit, std::move(what), store_in(value, std::move(task)));
    co_return *std::move(value);
}

}  // namespace oyat
