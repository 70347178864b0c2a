#pragma once

#include <string>
#include <vector>

#include "policy/rule.hpp"

namespace oyat::policy {

// What one layer says about the way out: rules in their order, the first that matches decides; else
// `fallback`.
struct Document {
    static constexpr std::size_t kMaxRules = 512;
    static constexpr std::size_t kMaxBytes = 64 * 1024;

    std::string preset;       // whose rules follow the own ones, as written; "" or "custom": none
    std::vector<Rule> rules;  // own, then the preset's
    Action fallback = Action::deny;
    std::vector<HostPattern> bypass;  // hosts that are never intercepted

    // The whole document as JSON in the form in which it was written (checked, presets and sets unexpanded).
    std::string source;
};

}  // namespace oyat::policy
