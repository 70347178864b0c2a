#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "egress/dns_message.hpp"
#include "io/ip_address.hpp"

namespace oyat::egress {

// Names to which the operator gives addresses (`dns.hosts`), whatever resolvers say of them: services inside
// that have no public name, or another address inside than outside. Whether a sandbox may be told the
// addresses is judged as for any other reply.
class HostEntries {
public:
    // Lower-case host names and IPv4 addresses; sandboxes have no way out over IPv6.
    static Result<HostEntries> parse(const std::map<std::string, std::vector<std::string>>& entries);

    [[nodiscard]] bool contains(const std::string& name) const { return entries_.contains(name); }
    // What a resolver would reply; nothing for a name that has no entry.
    [[nodiscard]] std::optional<dns::Reply> reply_to(const dns::Question& question,
                                                     const std::string& name) const;

private:
    std::map<std::string, std::vector<IpAddress>> entries_;
};

}  // namespace oyat::egress
