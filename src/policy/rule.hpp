#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.hpp"
#include "io/ip_address.hpp"
#include "policy/names.hpp"
#include "policy/paths.hpp"

namespace oyat::policy {

// From the most generous to the most restrictive: of several layers' verdicts the greatest holds.
enum class Action : std::uint8_t {
    allow,
    observe,  // allow, and flag it on the record
    ask,      // a person decides
    deny,
};

// What "this connection goes to host X" is worth, from the weakest.
enum class Strength : std::uint8_t {
    cidr,       // the address only
    pin,        // the address was given to this sandbox for the name X
    sni_pin,    // and the client names X in its handshake; another site on that address could be meant
    synthetic,  // the address was given for this name only
    authority,  // request line, Host and certificate agree, seen in clear by oyatd
};

enum class Protocol : std::uint8_t { any, tcp, tls, http, https };

struct PortRange {
    std::uint16_t first = 0, last = 0;
    [[nodiscard]] bool contains(std::uint16_t port) const { return first <= port && port <= last; }
};

// One line of a document. A criterion that is empty holds for everything; all that are given must hold.
struct Rule {
    std::string id;
    std::string category;  // "package-registries", "git", "public-web", "internal-apis", "webhooks"
    Action action = Action::deny;

    std::vector<HostPattern> hosts;
    std::vector<Cidr> cidrs;
    std::vector<PortRange> ports;
    Protocol protocol = Protocol::any;
    std::vector<std::string> methods;  // upper case as on the wire
    std::vector<PathPattern> paths;
    std::vector<Glob> refs;  // that a git push changes: all of them where it allows, any where it does not
    bool only_when_read =
        false;  // method and path count where requests are read anyway, and ask for no reading
    Strength require = Strength::cidr;  // allows only what is known at least so well
    std::optional<WallTime> expires;

    // What all connections by this rule may use together; 0 = no bound.
    std::uint64_t up_bytes = 0, down_bytes = 0;
    std::uint32_t connections = 0;
    std::uint32_t requests_per_second = 0;
    std::string note;

    [[nodiscard]] bool reads_requests() const { return !methods.empty() || !paths.empty() || !refs.empty(); }
};

[[nodiscard]] std::string_view to_string(Action action) noexcept;
[[nodiscard]] std::string_view to_string(Strength strength) noexcept;
[[nodiscard]] std::string_view to_string(Protocol protocol) noexcept;

}  // namespace oyat::policy
