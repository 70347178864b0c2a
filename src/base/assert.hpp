#pragma once

// A broken promise inside our own program. Stops the process, also in release builds: the sandboxes
// survive and the daemon restarts into its saved state.
#define OYAT_ASSERT(condition) \
    (static_cast<bool>(condition) ? void(0) : ::oyat::assertion_failed(#condition, __FILE__, __LINE__))

namespace oyat {

[[noreturn]] void assertion_failed(const char* condition, const char* file, int line) noexcept;

}  // namespace oyat
