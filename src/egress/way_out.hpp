#pragma once

#include "egress/judge.hpp"
#include "egress/shared.hpp"
#include "io/async_fd.hpp"

namespace oyat::egress {

// Connects to the address that was judged, never looking anything up again but asking the always-deny set
// once more; or, where the policy names a proxy, to that, and has it connect to the name or else the address
// that was judged. Throws Error{unavailable, Fault::network} when either cannot be reached: there is no way
// around a proxy. Until somebody lets it finish in order (relay.hpp), the end of the descriptor is a reset.
[[nodiscard]] Task<AsyncFd> connect_out(Shared& shared, Destination to, const Passage& passage);

}  // namespace oyat::egress
