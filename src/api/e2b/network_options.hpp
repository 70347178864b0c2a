#pragma once

#include <string>
#include <vector>

#include "base/result.hpp"
#include "rpc/message.hpp"

namespace oyat::e2b {

// The part of the `network` option that this release can honour.
struct NetworkOptions {
    std::vector<std::string> deny_out;  // addresses and ranges
    bool public_traffic = true;
    std::string host_mask;  // maskRequestHost
};

// Checks the whole option by the protocol's rules. What passes them but is not available yet is refused by
// its name.
[[nodiscard]] Result<NetworkOptions> read_network_options(const rpc::Message& network, bool secure);

// Whether the options deny every address. A partial deny list is refused above, so this is all or nothing.
[[nodiscard]] bool deny_everything(const NetworkOptions& options);

}  // namespace oyat::e2b
