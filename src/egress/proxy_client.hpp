#pragma once

#include "egress/socks.hpp"
#include "io/async_fd.hpp"
#include "io/task.hpp"
#include "policy/policy.hpp"

namespace oyat::egress {

// Speaks SOCKS5 or HTTP CONNECT to a proxy that is connected, until it has connected us further. Takes no
// byte of what comes behind its answer. Throws Error{unavailable, Fault::upstream} with what the proxy said
// when it did not.
Task<> ask_proxy(AsyncFd& proxy, const policy::Via& via, const socks::Target& target);

}  // namespace oyat::egress
