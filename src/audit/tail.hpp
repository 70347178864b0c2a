#pragma once

#include <cstdint>
#include <string>

#include "audit/line.hpp"

namespace oyat::audit {

// How a segment ends: what is needed to go on writing it after a restart.
struct Tail {
    std::uint64_t bytes = 0;  // of the file
    std::uint64_t whole_bytes =
        0;  // up to here the file is whole lines; what follows was torn by the death of its writer
    bool newline_lost = false;  // the last line is whole but for its newline
    std::string record;         // of the last whole line; "" when there is none
    Digest head{};              // of that line; the chain goes on from here
    bool sound = true;          // its digest follows from the line before
};

// Reads backwards, so that a long segment costs no more than a short one. Throws Error when the file cannot
// be read.
[[nodiscard]] Tail read_tail(int file);

}  // namespace oyat::audit
