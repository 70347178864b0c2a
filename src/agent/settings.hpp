#pragma once

#include "wire/agent_messages.hpp"

namespace oyat::agent {

// What the host configured for all later processes and file requests.
struct Settings {
    wire::Configure configured;

    // The one that acts when a request names nobody.
    [[nodiscard]] const std::string& user_or_default(const std::string& user) const {
        static const std::string kRoot = "root";
        if (!user.empty()) return user;
        return configured.default_user.empty() ? kRoot : configured.default_user;
    }
};

}  // namespace oyat::agent
