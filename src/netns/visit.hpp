#pragma once

#include "base/fd.hpp"

namespace oyat::netns {

// The calling thread stands in another network namespace while this lives. Going back can't be allowed to
// fail: the keeper would go on inside a sandbox's network, so it stops instead.
class Visit {
public:
    explicit Visit(int netns);
    // Makes a namespace and stands in it; it ends with the visit unless somebody keeps `open_here()`.
    struct NewNamespace {};
    explicit Visit(NewNamespace);
    Visit(const Visit&) = delete;
    Visit& operator=(const Visit&) = delete;
    ~Visit();

    // The namespace that the calling thread is in.
    static Fd open_here();

private:
    Fd home_;
};

}  // namespace oyat::netns
