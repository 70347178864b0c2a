#pragma once

#include <boost/json/object.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/clock.hpp"
#include "base/result.hpp"

namespace oyat::core {

// Who may reach a port of a sandbox from outside; each lets in those before it, too.
enum class Reach {
    closed,  // nobody
    token,   // who brings the sandbox's token
    link,    // who has a signed link that is not over
    anyone,  // who knows the host name
};
[[nodiscard]] std::string_view to_string(Reach reach) noexcept;
[[nodiscard]] Result<Reach> parse_reach(std::string_view word);

// What a sandbox shows to the outside. Part of its record, so it holds over restarts.
struct Exposure {
    static constexpr std::size_t kMostPorts = 256;

    Reach usual = Reach::anyone;  // of ports without a word of their own
    Reach most = Reach::anyone;   // the operator's: none is wider. Not kept, it is set anew at each start
    std::map<std::uint16_t, Reach> ports;
    std::string token;  // of this sandbox; links are signed with it as well
    // What the server inside gets as Host, "${PORT}" standing for its port. "": as the visitor sent it.
    std::string host_mask;
    std::set<std::uint16_t> tls_ports;  // where servers inside speak TLS

    [[nodiscard]] Reach of(std::uint16_t port) const;
    [[nodiscard]] Reach otherwise() const;    // of ports without a word of their own, as it holds
    [[nodiscard]] Exposure in_force() const;  // with `most` applied to all, to be shown
    [[nodiscard]] std::string masked_host(std::uint16_t port) const;  // "" without a mask
};

[[nodiscard]] boost::json::object to_json(const Exposure& exposure);
[[nodiscard]] Result<Exposure> exposure_from_json(const boost::json::object& json);

// What proves that its holder may reach one port until `until`. Needs no list of links: whoever takes the
// token away takes them all.
[[nodiscard]] std::string sign_link(const Exposure& exposure, std::string_view sandbox, std::uint16_t port,
                                    WallTime until);

// What a visitor brought.
struct Credentials {
    std::optional<std::string> token;
    std::optional<std::string> link;
};

struct Admittance {
    bool granted = false;
    std::string_view by;      // "anyone", "token" or "link"
    std::string_view reason;  // why not, as a sentence
};
[[nodiscard]] Admittance admit(const Exposure& exposure, std::string_view sandbox, std::uint16_t port,
                               const Credentials& credentials, WallTime now);

// When a link ends, without a look at whether it is genuine.
[[nodiscard]] std::optional<WallTime> end_of_link(std::string_view link);

}  // namespace oyat::core
