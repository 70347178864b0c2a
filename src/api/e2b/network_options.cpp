#include "api/e2b/network_options.hpp"

#include <algorithm>
#include <charconv>

#include "base/throwing.hpp"
#include "core/exposure.hpp"
#include "http/grammar.hpp"
#include "io/address.hpp"

namespace oyat::e2b {
namespace {

constexpr std::string_view kEverything = "0.0.0.0/0";
constexpr int kAgentPortNumber = 49983;

[[noreturn]] void invalid(std::string sentence) {
    throw Error{Errc::invalid_argument, std::move(sentence)};
}

[[noreturn]] void later(std::string_view option) {
    invalid("'network." + std::string{option} + "' is not available in this release");
}

// "10.0.0.1", "10.0.0.0/8", and the same for IPv6.
bool is_address_or_range(std::string_view text) {
    const std::size_t slash = text.find('/');
    const Result<SocketAddress> address = SocketAddress::ip(text.substr(0, slash), 0);
    if (!address) return false;
    if (slash == std::string_view::npos) return true;
    const std::string_view bits = text.substr(slash + 1);
    int number = -1;
    const auto [end, error] = std::from_chars(bits.data(), bits.data() + bits.size(), number);
    const int most = address->family() == AF_INET ? 32 : 128;
    return error == std::errc{} && end == bits.data() + bits.size() && number >= 0 && number <= most;
}

// A host, with a port perhaps; "${PORT}" may stand once in it. It becomes a Host field as it is.
bool is_host_mask(const std::string& mask) {
    core::Exposure exposure;
    exposure.host_mask = mask;
    return http::parse_host(exposure.masked_host(65535)).has_value();
}

NetworkOptions read(const rpc::Message& network, bool secure) {
    NetworkOptions options{.deny_out = network.strings("denyOut")};
    for (const std::string& entry : options.deny_out) {
        if (!is_address_or_range(entry))
            invalid("'network.denyOut': '" + entry + "' is no IP address or range");
    }
    const std::vector<std::string> allow_out = network.strings("allowOut");
    const bool denies_all = std::ranges::find(options.deny_out, kEverything) != options.deny_out.end();
    for (const std::string& entry : allow_out) {
        if (!is_address_or_range(entry) && !denies_all) {
            invalid("'network.allowOut': the domain '" + entry + "' needs 0.0.0.0/0 in 'network.denyOut'");
        }
    }
    const std::optional<std::string> mask = network.optional_string("maskRequestHost");
    if (mask) {
        options.host_mask = *mask;
        if (!is_host_mask(options.host_mask)) invalid("'network.maskRequestHost' is no host name");
    }
    options.public_traffic = network.boolean("allowPublicTraffic", true);
    if (!options.public_traffic && !secure) invalid("'network.allowPublicTraffic': false needs 'secure'");
    const std::vector<std::uint32_t> https_ports = network.uint32s("httpsPorts");
    if (std::ranges::find(https_ports, kAgentPortNumber) != https_ports.end()) {
        invalid("'network.httpsPorts' may not hold the agent's port");
    }

    if (!allow_out.empty()) later("allowOut");
    if (!options.deny_out.empty() && !denies_all) later("denyOut");
    if (!https_ports.empty()) later("httpsPorts");
    if (network.has("egressProxy")) later("egressProxy");
    return options;
}

}  // namespace

Result<NetworkOptions> read_network_options(const rpc::Message& network, bool secure) {
    try {
        return read(network, secure);
    } catch (Error& error) {
        return std::unexpected{std::move(error)};
    }
}

bool deny_everything(const NetworkOptions& options) {
    return !options.deny_out.empty();
}

}  // namespace oyat::e2b
