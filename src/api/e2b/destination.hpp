#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "http/exchange.hpp"

namespace oyat::e2b {

// The request names no sandbox: it is for the control plane, or a signed file link that its signature alone
// places.
struct ToServer {};

// The request is for a port of a sandbox.
struct ToPort {
    std::string sandbox;     // matches [a-z0-9]+, but need not exist
    std::uint16_t port = 0;  // 0 when what was given is no port number
    std::string target;      // path and query as that port is to see them
    bool by_host = false;    // the sandbox has this host, and so a browser's origin, for itself
};

// The request contradicts itself; the text says how.
struct Contradiction {
    std::string reason;
};

using Destination = std::variant<ToServer, ToPort, Contradiction>;

// Where a request wants to go, by its head alone. A host name "<port>-<sandbox>.anything" wins, so that a
// page of one sandbox can't steer a request to another by a header; then the pair of routing headers; then
// "/s/<sandbox>/<port>/".
[[nodiscard]] Destination destination_of(const http::RequestHead& head);

// The path of a target, without its query.
[[nodiscard]] std::string_view path_of(std::string_view target);
[[nodiscard]] std::string_view query_of(std::string_view target);

}  // namespace oyat::e2b
