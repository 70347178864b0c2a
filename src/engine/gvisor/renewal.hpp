#pragma once

#include <cstdint>
#include <string>

namespace oyat::gvisor {

// Meets the agent of a sandbox that has gone on from memory, at its door, and gives it a life of its own:
// names, random numbers and generation are this sandbox's before any program goes on. It blocks: for a child
// process.
void renew(int listener, std::uint64_t generation, const std::string& id);

}  // namespace oyat::gvisor
