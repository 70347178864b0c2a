#include "netns/visit.hpp"

#include <fcntl.h>
#include <sched.h>

#include "base/assert.hpp"
#include "base/throwing.hpp"

namespace oyat::netns {

Visit::Visit(int netns) : home_{open_here()} {
    sys(::setns(netns, CLONE_NEWNET), "enter network namespace");
}

Visit::Visit(NewNamespace) : home_{open_here()} {
    sys(::unshare(CLONE_NEWNET), "make network namespace");
}

Visit::~Visit() {
    OYAT_ASSERT(::setns(home_.get(), CLONE_NEWNET) == 0);
}

Fd Visit::open_here() {
    return Fd{sys(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC), "open own network namespace")};
}

}  // namespace oyat::netns
