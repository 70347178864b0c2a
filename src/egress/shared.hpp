#pragma once

#include <vector>

#include "egress/destinations.hpp"
#include "egress/egress.hpp"
#include "egress/host_addresses.hpp"
#include "egress/host_certificates.hpp"
#include "egress/host_entries.hpp"
#include "egress/kept_pins.hpp"
#include "egress/tenant_authorities.hpp"
#include "egress/upstreams.hpp"

namespace oyat::egress {

// What the outlets of all sandboxes have in common. Held by each of them, since their last tasks may end
// after the Egress itself.
class Shared {
public:
    Shared(Executor executor, core::EventBus& events, const Clock& clock, core::Store& store,
           EgressConfig config);

    // Knows the host's addresses as of now.
    [[nodiscard]] const Destinations& destinations();

    Executor executor;
    core::EventBus& events;
    const Clock& clock;
    const EgressConfig config;
    Upstreams upstreams;
    const HostEntries hosts;
    KeptPins kept_pins;
    TenantAuthorities authorities;
    HostCertificates certificates;
    http::TlsContext trust;  // of the world's certificates
    std::size_t connections = 0;
    // Bytes pass through here between one read and the write after it, with no other turn of the loop in
    // between.
    std::vector<char> passage;

private:
    Destinations destinations_;
    HostAddresses host_addresses_;
};

}  // namespace oyat::egress
