#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>

#include "io/task.hpp"

namespace oyat {

// Threads for calls that block: fsync, unlinking of trees, getaddrinfo, SQLite.
class WorkerPool {
public:
    // At most `max_queued` calls wait for a thread; one more is refused with Error{exhausted}.
    explicit WorkerPool(std::size_t threads, std::size_t max_queued = 4096);
    WorkerPool(const WorkerPool&) = delete;
    WorkerPool& operator=(const WorkerPool&) = delete;
    // Finishes what was queued, then ends the threads. The loops of those who wait must still exist.
    ~WorkerPool();

    // Runs the call on a thread and resumes the caller on its own loop. Cannot be canceled, so the call may
    // refer to what the calling coroutine owns. Exceptions pass through.
    Task<> run(std::move_only_function<void()> call);

private:
    struct State;
    std::unique_ptr<State> state_;
};

// auto names = co_await on_worker(pool, [&] { return list_directory(path); });
template <class F, class T = std::invoke_result_t<F&>>
Task<T> on_worker(WorkerPool& pool, F call) {
    if constexpr (std::is_void_v<T>) {
        co_await pool.run([&call] { call(); });
    } else {
        std::optional<T> value;
        co_await pool.run([&call, &value] { value.emplace(call()); });
        co_return *std::move(value);
    }
}

}  // namespace oyat
