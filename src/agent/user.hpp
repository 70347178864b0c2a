#pragma once

#include <cstdint>
#include <vector>

#include "agent/account_files.hpp"

namespace oyat::agent {

// Somebody inside on whose behalf the agent acts.
struct User {
    Account account;
    std::vector<std::uint32_t> groups;
};

}  // namespace oyat::agent
