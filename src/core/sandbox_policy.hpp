#pragma once

#include "core/egress_control.hpp"
#include "core/sandbox_record.hpp"

namespace oyat::core {

// The policy of one sandbox's way out, put together from what its record says.
[[nodiscard]] PolicyPtr policy_of(const SandboxRecord& record);

}  // namespace oyat::core
