#pragma once

#include "core/sandbox_record.hpp"

namespace oyat::core {

// Whether a sandbox may go from one state to the other. Every change of a state is checked against it.
[[nodiscard]] constexpr bool may_follow(SandboxState from, SandboxState to) {
    using enum SandboxState;
    switch (from) {
        case creating: return to == running || to == paused || to == ending;
        case running: return to == pausing || to == ending;
        case pausing: return to == paused || to == running;
        case paused: return to == resuming || to == ending;
        case resuming: return to == running || to == paused;
        case ending: return to == ended;
        case ended: return false;
    }
    return false;
}

// On the way from one lasting state to another: whoever wants something else waits.
[[nodiscard]] constexpr bool is_changing(SandboxState state) {
    using enum SandboxState;
    return state == creating || state == pausing || state == resuming;
}

[[nodiscard]] constexpr bool is_over(SandboxState state) {
    return state == SandboxState::ending || state == SandboxState::ended;
}

}  // namespace oyat::core
