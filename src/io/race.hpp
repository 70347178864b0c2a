#pragma once

#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "io/task.hpp"

namespace oyat {

// Runs the tasks side by side. When the first one ends, the others are canceled and awaited; returns the
// index of the first, or throws its exception. Results go to variables of the caller, which outlive all
// tasks. Canceling the race cancels all.
//
//     if (co_await race(work(exchange, result), exchange.client_gone()) == 1) co_return;  // nobody to answer
//     to
Task<std::size_t> race(std::vector<Task<>> tasks);

template <class... More>
Task<std::size_t> race(Task<> first, Task<> second, More... more) {
    std::vector<Task<>> tasks;
    tasks.reserve(2 + sizeof...(more));
    tasks.push_back(std::move(first));
    tasks.push_back(std::move(second));
    (tasks.push_back(std::move(more)), ...);
    return race(std::move(tasks));
}

// Awaits the task to its end even when the caller is canceled meanwhile; only then the cancellation is felt.
// For undoing that must not stop half-way.
Task<> shielded(Task<> task);

// Makes a Task<> of a Task<T> that leaves its value in `into`, for race() and shielded().
template <class T>
Task<> store_in(std::optional<T>& into, Task<T> task) {
    into.emplace(co_await std::move(task));
}

}  // namespace oyat
