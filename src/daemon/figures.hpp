#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "auth/keys.hpp"
#include "core/sandbox.hpp"

namespace oyat::daemon {

// All sandboxes that are not ended, of all tenants, by the name of their state.
[[nodiscard]] std::map<std::string, std::size_t> count_by_state(const core::Sandboxes& sandboxes,
                                                                const auth::Keys& keys);

}  // namespace oyat::daemon
