#pragma once

#include "base/clock.hpp"
#include "base/fd.hpp"
#include "io/address.hpp"
#include "io/task.hpp"

namespace oyat {

// Connects a new stream socket (TCP or unix, by the address' family). Throws Error{unavailable} when refused
// or unreachable, Error{deadline} after `limit`.
Task<Fd> connect(SocketAddress address, Millis limit);

}  // namespace oyat
