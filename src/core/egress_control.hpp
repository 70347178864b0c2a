#pragma once

#include <string>

#include "base/fd.hpp"

namespace oyat::core {

// What a sandbox may reach, as far as this release decides it: the always-deny set holds for all. Rules by
// purpose take this struct's place later.
struct EgressPolicy {
    bool internet = true;  // false: every connection and every name is refused
    std::uint64_t generation = 1;
};

struct EgressSockets {
    Fd tcp;  // listener inside; SO_ORIGINAL_DST tells where a connection was going
    Fd dns_udp;
    Fd dns_tcp;
};

// The proxy and the name server of each sandbox. attach() returns with the policy in force, so it is called
// before the first program of the sandbox starts.
class EgressControl {
public:
    virtual ~EgressControl() = default;
    virtual void attach(std::string sandbox, std::string tenant, EgressSockets sockets,
                        EgressPolicy policy) = 0;
    virtual void update(const std::string& sandbox,
                        EgressPolicy policy) = 0;         // open connections are judged again
    virtual void detach(const std::string& sandbox) = 0;  // cuts everything
};

}  // namespace oyat::core
