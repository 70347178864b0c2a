#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace oyat::gvisor {

// What one sandbox differs in from all others.
struct BundlePlan {
    std::string_view host_name;
    std::uint32_t first_id = 0;  // of the host ids that root inside and the 65,535 others are
    std::uint64_t open_files = 0;
    std::vector<std::string> argv;
    bool with_agent = true;  // its program and door are there
};

// Where runsc finds the parts of a sandbox while it is told to do something (run_view.hpp), and where the
// sandbox finds ours.
inline constexpr std::string_view kViewRoot = "/run/root";
inline constexpr std::string_view kViewNetwork = "/run/net";
inline constexpr std::string_view kViewAgent = "/run/agent";
inline constexpr std::string_view kViewDoor = "/run/door";
inline constexpr std::string_view kAgentInside = "/dev/.oyat/agent";
inline constexpr std::string_view kDoorInside = "/dev/.oyat/door";

// The description of a sandbox as runsc reads it (config.json of the Open Container Initiative): pid 1 is
// the agent, with the capabilities of a jail, in namespaces of its own, ids mapped, a /dev, /proc and /sys
// that gVisor makes up, the agent's program and door the only other things of the host.
[[nodiscard]] std::string bundle_text(const BundlePlan& plan);

}  // namespace oyat::gvisor
