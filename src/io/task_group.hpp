#pragma once

#include <cstddef>
#include <exception>
#include <functional>
#include <memory>

#include "io/task.hpp"

namespace oyat {

// Owns tasks that run beside their starter. Every started task belongs to a group; whoever owns the group
// awaits close() before it dies. All on one loop.
//
// Cancellation is felt where a task of the group waits: the parts of io throw Error{canceled} there, and at
// every further wait. Let it pass. Undoing that has to wait for something runs in shielded() (race.hpp).
class TaskGroup {
public:
    // Called for a task that ended with an exception other than its cancellation. By default it is logged.
    using OnError = std::function<void(std::exception_ptr)>;

    explicit TaskGroup(Executor executor, OnError on_error = {});
    TaskGroup(const TaskGroup&) = delete;
    TaskGroup& operator=(const TaskGroup&) = delete;
    // The emergency exit: cancels what still runs, without waiting for it.
    ~TaskGroup();

    // Starts the task on a later turn of the loop. After cancel() or close() the task is dropped unstarted.
    void spawn(Task<> task);

    // Asks all tasks to end, and takes no new ones.
    void cancel();
    // cancel(), then waits until all have ended, even when the waiting task itself is canceled meanwhile.
    // Must not be called from a task of the group.
    Task<> close();
    // Waits until no task is running, without canceling any; can be canceled.
    Task<> wait_idle();

    [[nodiscard]] std::size_t size() const noexcept;
    [[nodiscard]] Executor executor() const;

private:
    struct State;
    std::shared_ptr<State>
        state_;  // shared with the tasks' completions, which may come after the emergency exit
};

}  // namespace oyat
