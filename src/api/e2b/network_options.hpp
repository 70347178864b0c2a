#pragma once

#include <boost/json/object.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/result.hpp"
#include "policy/policy.hpp"
#include "rpc/message.hpp"

namespace oyat::e2b {

// The option `network`, but for its rules (header_rules.hpp).
struct NetworkOptions {
    std::vector<std::string> allow_out;    // addresses, ranges and domains
    std::vector<std::string> deny_out;     // addresses and ranges
    std::vector<std::string> dns_servers;  // addresses, open where `allow_out` has domains
    std::optional<policy::Via> via;        // egressProxy
    bool public_traffic = true;
    std::string host_mask;                // maskRequestHost
    std::set<std::uint16_t> https_ports;  // httpsPorts
};

enum class Internet { allowed, denied };  // allow_internet_access

// Checks the whole option by the protocol's rules. Internet::denied takes the place of the deny list; the
// allow list still opens.
[[nodiscard]] Result<NetworkOptions> read_network_options(const rpc::Message& network, bool secure,
                                                          Internet internet);

// The options as a document: all allows, then all denies, then everything. A domain counts where its name can
// be seen: in TLS on port 443 and in HTTP on port 80. Nothing when they restrict nothing.
[[nodiscard]] std::optional<boost::json::object> network_policy(const NetworkOptions& options);

// The lists as they were given, out of such a document; {} for any other.
[[nodiscard]] boost::json::object lists_of(const std::string& policy);

}  // namespace oyat::e2b
