#pragma once

#include <cstdint>

#include "agent/status.hpp"
#include "base/fd.hpp"
#include "wire/agent_messages.hpp"

namespace oyat::agent {

// Both ends of a new pseudo terminal. The program's end belongs to `uid`.
struct Pty {
    Fd master;  // non-blocking
    Fd slave;
};

[[nodiscard]] Answer<Pty> open_pty(wire::TermSize size, std::uint32_t uid);

// Also tells the program (SIGWINCH). Zeros are 80 columns and 24 rows.
[[nodiscard]] Status resize_pty(int master, wire::TermSize size);

// What the terminal takes for the end of input at the moment: usually Ctrl-D.
[[nodiscard]] char end_of_file_key(int master);

}  // namespace oyat::agent
