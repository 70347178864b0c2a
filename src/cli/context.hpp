#pragma once

#include <string>

#include "cli/client.hpp"
#include "cli/terminal.hpp"

namespace oyat::cli {

// What all commands share.
struct Context {
    Client client;
    bool json = false;  // the server's own JSON on standard output
    Paint paint{STDOUT_FILENO};
};

// Exit codes of our own; a command inside passes its own through.
inline constexpr int kFailed = 1;
inline constexpr int kUsage = 2;
inline constexpr int kTimedOut = 124;    // as timeout(1)
inline constexpr int kNotStarted = 125;  // `run` and `exec`: oyat failed, not the command
inline constexpr int kKilledBy = 128;    // + the signal, as a shell has it

}  // namespace oyat::cli
