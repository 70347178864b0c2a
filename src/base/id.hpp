#pragma once

#include <string>
#include <string_view>

namespace oyat {

// Sandbox ids are 'i' + 20 of [a-z0-9]: a host name label, never reused, 103 bits of randomness.
[[nodiscard]] std::string new_sandbox_id();
[[nodiscard]] bool is_sandbox_id(std::string_view text) noexcept;

// Snapshot ids are the same with 's' in front.
[[nodiscard]] std::string new_snapshot_id();
[[nodiscard]] bool is_snapshot_id(std::string_view text) noexcept;

// `bytes` random bytes from getrandom(2) as lower-case hex. Tokens and keys.
[[nodiscard]] std::string random_hex(std::size_t bytes);

// A random (version 4) UUID, RFC 9562.
[[nodiscard]] std::string new_uuid();

// Time that does not depend on where the first difference is; for tokens and signatures.
[[nodiscard]] bool equal_constant_time(std::string_view a, std::string_view b) noexcept;

}  // namespace oyat
