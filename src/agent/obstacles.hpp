#pragma once

#include "agent/status.hpp"

// What a checkpoint could not bring back. Looked for while all programs stand still. Success is: nothing
// found.
namespace oyat::agent {

// A connection to an address outside of the sandbox.
[[nodiscard]] Status no_outside_connections();

// A regular file that a program holds open and that has no name any more, where that file lives outside of
// the sandbox's memory.
[[nodiscard]] Status no_deleted_files();

}  // namespace oyat::agent
