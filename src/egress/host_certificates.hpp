#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "base/clock.hpp"
#include "egress/tenant_authorities.hpp"
#include "http/tls.hpp"

namespace oyat::egress {

// What oyatd shows sandboxes as a server: for each tenant and host a certificate of 30 days, signed by the
// tenant's authority. Keys are in memory only.
class HostCertificates {
public:
    HostCertificates(TenantAuthorities& authorities, const Clock& clock)
        : authorities_{authorities}, clock_{clock} {}

    // `host` is a canonical name or an address. About 200 us for one that is new.
    [[nodiscard]] std::shared_ptr<http::TlsContext> of(const std::string& tenant, const std::string& host);

private:
    using Place = std::pair<std::string, std::string>;  // tenant, host
    struct Shown {
        std::shared_ptr<http::TlsContext> context;  // shared with connections in their handshake
        MonoTime made;
    };
    void make_room();

    TenantAuthorities& authorities_;
    const Clock& clock_;
    std::map<Place, Shown> shown_;
};

}  // namespace oyat::egress
