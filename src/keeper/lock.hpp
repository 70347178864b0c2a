#pragma once

#include "base/fd.hpp"

namespace oyat::keeper {

// Holds a file or directory for this keeper alone, for as long as the descriptor lives. Throws `refusal` when
// another holds it and does not let go within two seconds: a keeper that was killed a moment ago may have a
// child that still does.
[[nodiscard]] Fd hold_alone(Fd opened, const char* refusal);

}  // namespace oyat::keeper
