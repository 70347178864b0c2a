#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/clock.hpp"
#include "wire/agent_messages.hpp"

namespace oyat::microvm {

// Waits until the agent of a machine that is starting says hello on this connection. `alive` is asked now and
// then, and throws when there is nothing more to wait for. Throws `deadline`.
wire::Hello wait_for_hello(int socket, Millis patience, const std::function<void()>& alive);

// Gives a copy of a saved machine a life of its own: random numbers, clock, names and generation are the
// new sandbox's before anything else happens in it. On a connection of its own to the socket `door`, which is
// over afterwards.
void renew(const std::string& door, Millis patience, std::uint64_t generation, const std::string& id,
           const std::function<void()>& alive);

}  // namespace oyat::microvm
