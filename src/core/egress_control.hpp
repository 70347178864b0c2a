#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/fd.hpp"
#include "policy/policy.hpp"

namespace oyat::core {

using PolicyPtr = std::shared_ptr<const policy::Policy>;

struct EgressSockets {
    Fd tcp;  // listener inside; SO_ORIGINAL_DST tells where a connection was going
    Fd dns_udp;
    Fd dns_tcp;
};

// What a sandbox has sent and received since its sockets were attached, on the wire.
struct Traffic {
    std::uint64_t up = 0;
    std::uint64_t down = 0;
};

// The proxy and the name server of each sandbox. attach() returns with the policy in force, so it is called
// before the first program of the sandbox starts.
class EgressControl {
public:
    virtual ~EgressControl() = default;
    virtual void attach(std::string sandbox, std::string tenant, EgressSockets sockets, PolicyPtr policy) = 0;
    // Judges the open connections again; returns how many of them were cut, at once.
    virtual std::size_t update(const std::string& sandbox, PolicyPtr policy) = 0;
    virtual void detach(const std::string& sandbox) = 0;                          // cuts everything
    [[nodiscard]] virtual Traffic traffic(const std::string& sandbox) const = 0;  // zeroes when there is none
    // The certificate of the authority that a tenant's sandboxes must trust so that connections can be read.
    // Makes it the first time.
    [[nodiscard]] virtual std::string authority_pem(const std::string& tenant) = 0;
};

}  // namespace oyat::core
