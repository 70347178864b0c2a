#include "daemon/figures.hpp"

namespace oyat::daemon {

std::map<std::string, std::size_t> count_by_state(const core::Sandboxes& sandboxes, const auth::Keys& keys) {
    using enum core::SandboxState;
    std::map<std::string, std::size_t> counts;
    // Those without any are shown too, so that a graph falls to zero instead of ending.
    for (const auto state : {creating, running, pausing, paused, resuming, ending})
        counts[std::string{to_string(state)}] = 0;
    for (const std::string& tenant : keys.tenants()) {
        for (const auto& sandbox : sandboxes.list({.tenant = tenant}))
            ++counts[std::string{to_string(sandbox->record().state)}];
    }
    return counts;
}

}  // namespace oyat::daemon
