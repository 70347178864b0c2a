#include "api/e2b/network_options.hpp"

#include <algorithm>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <charconv>

#include "api/e2b/settings.hpp"
#include "base/throwing.hpp"
#include "core/exposure.hpp"
#include "http/grammar.hpp"
#include "io/address.hpp"

namespace oyat::e2b {
namespace {

namespace json = boost::json;

constexpr std::string_view kEverything = "0.0.0.0/0";
constexpr std::size_t kMaxProxyWord = 255;
constexpr std::size_t kMaxDnsServers = 10;

[[noreturn]] void invalid(std::string sentence) {
    throw Error{Errc::invalid_argument, std::move(sentence)};
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

bool denies_everything(const NetworkOptions& options) {
    return std::ranges::find(options.deny_out, kEverything) != options.deny_out.end();
}

// "proxy.example.com:1080", which speaks SOCKS5; with "http://" in front it speaks HTTP CONNECT.
policy::Via read_proxy(const rpc::Message& proxy) {
    policy::Via via;
    const std::string whole = proxy.string("address");
    std::string_view address = whole;
    if (address.starts_with("http://")) {
        via.kind = policy::Via::Kind::http;
        address.remove_prefix(7);
    } else if (address.starts_with("socks5://")) {
        address.remove_prefix(9);
    }
    const std::size_t colon = address.rfind(':');
    const std::string_view digits =
        colon == std::string_view::npos ? std::string_view{} : address.substr(colon + 1);
    const auto [end, failed] = std::from_chars(digits.data(), digits.data() + digits.size(), via.port);
    std::string_view host = address.substr(0, colon);
    if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
    const bool known = IpAddress::parse(host).has_value() || policy::canonical_host(host).has_value();
    if (!known || digits.empty() || failed != std::errc{} || end != digits.data() + digits.size() ||
        via.port == 0)
        invalid("'network.egressProxy.address' is not HOST:PORT");
    via.host = host;
    via.user = proxy.string("username");
    via.password = proxy.string("password");
    if (proxy.has("tls")) invalid("'network.egressProxy.tls' is not available in this release");
    // One byte tells the length of each in SOCKS5 (RFC 1929).
    if (via.user.size() > kMaxProxyWord || via.password.size() > kMaxProxyWord)
        invalid("'network.egressProxy': a name or password of more than 255 bytes");
    if (via.user.empty() && !via.password.empty())
        invalid("'network.egressProxy': a password needs a 'username'");
    return via;
}

NetworkOptions read(const rpc::Message& network, bool secure, Internet internet) {
    NetworkOptions options{
        .allow_out = network.strings("allowOut"), .deny_out = network.strings("denyOut"), .via = {}};
    options.dns_servers = network.strings("dnsServers");
    if (options.dns_servers.size() > kMaxDnsServers) invalid("'network.dnsServers' has more than 10 servers");
    for (const std::string& server : options.dns_servers) {
        const Result<IpAddress> address = IpAddress::parse(server);
        if (!address || !address->is_v4())
            invalid("'network.dnsServers': '" + server + "' is no IPv4 address");
    }
    for (const std::string& entry : options.deny_out) {
        if (!is_address_or_range(entry))
            invalid("'network.denyOut': '" + entry + "' is no IP address or range");
    }
    if (internet == Internet::denied) options.deny_out = {std::string{kEverything}};
    const bool denies_all = denies_everything(options);
    for (const std::string& entry : options.allow_out) {
        if (is_address_or_range(entry)) continue;
        if (!policy::HostPattern::parse(entry))
            invalid("'network.allowOut': '" + entry + "' is no domain, IP address or range");
        if (!denies_all) {
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
    for (const std::uint32_t port : network.uint32s("httpsPorts")) {
        if (port == 0 || port > 65'535) invalid("'network.httpsPorts' holds what is no port");
        if (port == kAgentPort) invalid("'network.httpsPorts' may not hold the agent's port");
        options.https_ports.insert(static_cast<std::uint16_t>(port));
    }
    if (options.https_ports.size() > core::Exposure::kMostPorts)
        invalid("'network.httpsPorts' has more than 256 ports");
    if (const std::optional<rpc::Message> proxy = network.message("egressProxy"))
        options.via = read_proxy(*proxy);
    return options;
}

// "10.1.2.3/8" is written by people and means the range that it lies in; our rules want it spelt out.
std::string range_of(std::string_view text) {
    const std::size_t slash = text.find('/');
    if (slash == std::string_view::npos) return std::string{text};
    IpAddress::Bytes bytes = or_throw(IpAddress::parse(text.substr(0, slash))).bytes();
    int bits = 0;
    std::from_chars(text.data() + slash + 1, text.data() + text.size(), bits);
    if (IpAddress{bytes}.is_v4()) bits += 96;
    for (int bit = bits; bit < 128; ++bit)
        bytes[static_cast<std::size_t>(bit / 8)] &= static_cast<std::uint8_t>(~(0x80 >> (bit % 8)));
    return IpAddress{bytes}.to_string() + std::string{text.substr(slash)};
}

}  // namespace

Result<NetworkOptions> read_network_options(const rpc::Message& network, bool secure, Internet internet) {
    try {
        return read(network, secure, internet);
    } catch (Error& error) {
        return std::unexpected{std::move(error)};
    }
}

std::optional<json::object> network_policy(const NetworkOptions& options) {
    json::array names, ranges, denied;
    for (const std::string& entry : options.allow_out) {
        if (is_address_or_range(entry)) {
            ranges.emplace_back(range_of(entry));
        } else {
            names.emplace_back(entry);
        }
    }
    for (const std::string& entry : options.deny_out) denied.emplace_back(range_of(entry));
    if (denied.empty()) return std::nullopt;  // an allow list alone restricts nothing
    if (options.allow_out.empty() && denies_everything(options)) return json::object{{"preset", "offline"}};
    json::array rules;
    if (!names.empty()) {
        rules.push_back({{"id", "allowOut-tls"},
                         {"action", "allow"},
                         {"host", names},
                         {"port", 443},
                         {"protocol", "tls"}});
        rules.push_back({{"id", "allowOut-http"},
                         {"action", "allow"},
                         {"host", names},
                         {"port", 80},
                         {"protocol", "http"}});
    }
    // Servers that stand open where names are allowed. Questions of a sandbox are answered by oyatd all the
    // same.
    if (!names.empty() && !options.dns_servers.empty()) {
        rules.push_back({{"id", "dnsServers"},
                         {"action", "allow"},
                         {"cidr", json::array(options.dns_servers.begin(), options.dns_servers.end())}});
    }
    if (!ranges.empty())
        rules.push_back({{"id", "allowOut"}, {"action", "allow"}, {"cidr", std::move(ranges)}});
    rules.push_back({{"id", "denyOut"}, {"action", "deny"}, {"cidr", std::move(denied)}});
    return json::object{{"default", "allow"}, {"rule", std::move(rules)}};
}

json::object lists_of(const std::string& policy) {
    json::object view;
    json::array allowed, denied, servers;
    const json::value written = policy.empty() ? json::value(nullptr) : json::parse(policy);
    if (written.is_object() && written.get_object().contains("preset") && written.at("preset") == "offline")
        denied.emplace_back(kEverything);
    const json::value* rules = written.is_object() ? written.get_object().if_contains("rule") : nullptr;
    if (rules != nullptr && rules->is_array()) {
        for (const json::value& rule : rules->get_array()) {
            const json::object& fields = rule.as_object();
            const auto add = [&](std::string_view id, std::string_view field, json::array& to) {
                if (std::string_view{fields.at("id").get_string()} != id || !fields.contains(field) ||
                    !fields.at(field).is_array())
                    return;
                for (const json::value& entry : fields.at(field).get_array()) to.push_back(entry);
            };
            add("allowOut-tls", "host", allowed);
            add("allowOut", "cidr", allowed);
            add("denyOut", "cidr", denied);
            add("dnsServers", "cidr", servers);
        }
    }
    if (!allowed.empty()) view["allowOut"] = std::move(allowed);
    if (!denied.empty()) view["denyOut"] = std::move(denied);
    if (!servers.empty()) view["dnsServers"] = std::move(servers);
    return view;
}

}  // namespace oyat::e2b
