#pragma once

#include <memory>
#include <vector>

#include "io/task.hpp"

namespace oyat {

// Takes signals for as long as it lives: one that comes while nobody waits is given to the next who does.
// (wait_signal of loop.hpp hears only while it waits.)
class Signals {
public:
    Signals(Executor executor, const std::vector<int>& signals);
    Signals(const Signals&) = delete;
    Signals& operator=(const Signals&) = delete;
    ~Signals();  // the signals have their default effect again

    Task<int> next();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace oyat
