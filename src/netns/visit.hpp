#pragma once

#include "base/fd.hpp"

namespace oyat::netns {

// The calling thread stands in another network namespace while this lives. Going back can't be allowed to
// fail: the keeper would go on inside a sandbox's network, so it stops instead.
class Visit {
public:
    explicit Visit(int netns);
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    ~Visit();

private:
    Fd home_;
};

}  // namespace oyat::netns
