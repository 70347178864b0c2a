#pragma once

#include <optional>
#include <utility>

#include "io/loop.hpp"
#include "io/race.hpp"

namespace oyat {

// Runs one coroutine to its end on a private loop and returns its value or throws its exception: for tests
// and the command line. Throws Error{internal} when the coroutine waits for something that can no longer
// happen.
inline void run(Task<> task) {
    Loop loop;
    loop.run(std::move(task));
}

template <class T>
T run(Task<T> task) {
    std::optional<T> value;
    run(store_in(value, std::move(task)));
    return *std::move(value);
}

}  // namespace oyat
