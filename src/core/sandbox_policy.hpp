#pragma once

#include "core/egress_control.hpp"
#include "core/sandbox_record.hpp"

namespace oyat::core {

// The policy of one sandbox's way out, put together from what its record says.
// `interceptions` are its secrets'.
[[nodiscard]] PolicyPtr policy_of(const SandboxRecord& record,
                                  std::vector<policy::Interception> interceptions);

}  // namespace oyat::core
