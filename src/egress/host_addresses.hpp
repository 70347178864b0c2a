#pragma once

#include <set>

#include "base/fd.hpp"
#include "io/ip_address.hpp"

namespace oyat::egress {

// All addresses of this machine's interfaces, kept true: the kernel says on a netlink socket when one comes
// or goes, and the next question reads them anew. There is no moment at which a fresh address is not known.
class HostAddresses {
public:
    HostAddresses();

    // True when the set may have changed since the last call (and on the first).
    [[nodiscard]] bool changed();
    // Asks the kernel. Throws Error.
    [[nodiscard]] static std::set<IpAddress> read();

private:
    Fd notices_;
    bool first_ = true;
};

}  // namespace oyat::egress
