#pragma once

#include <boost/json/object.hpp>
#include <boost/json/value.hpp>
#include <span>
#include <string>
#include <string_view>

#include "api/e2b/create_once.hpp"
#include "api/e2b/services.hpp"
#include "core/principal.hpp"
#include "http/exchange.hpp"
#include "http/router.hpp"
#include "http/url.hpp"

namespace oyat::e2b {

// What an endpoint of the control plane answers.
struct Reply {
    int status = 200;
    std::string body;  // JSON, "" for none
    http::Fields fields;

    static Reply json(int status, const boost::json::value& value);
    static Reply empty(int status) { return {status, {}, {}}; }
};

// One authenticated request.
struct ControlCall {
    Services& services;
    http::Exchange& exchange;
    const http::PathValues& values;
    core::Principal who;
    CreateOnce& once;

    [[nodiscard]] http::Query query() const;  // throws Error{invalid_argument}
    // The sandbox that the path names, without the suffix that older clients add ("<id>-<anything>"). Throws
    // not_found for what can be no id.
    [[nodiscard]] std::string sandbox_id() const;
    // The body, at most 1 MiB, as an object; {} when there is none.
    Task<boost::json::object> object();
};

// What a key must be allowed to do. Listing and looking is also for those who may run.
enum class Need { nothing, look, run };

using EndpointFunction = Task<Reply> (*)(ControlCall&);

struct Endpoint {
    std::string_view method;
    std::string_view pattern;
    Need need;
    EndpointFunction function;
};

// The tables, by subject.
[[nodiscard]] std::span<const Endpoint> lifecycle_endpoints();
[[nodiscard]] std::span<const Endpoint> listing_endpoints();
[[nodiscard]] std::span<const Endpoint> measurement_endpoints();
[[nodiscard]] std::span<const Endpoint> template_endpoints();
[[nodiscard]] std::span<const Endpoint> secret_endpoints();
[[nodiscard]] std::span<const Endpoint> network_endpoints();
[[nodiscard]] std::span<const Endpoint> snapshot_endpoints();
[[nodiscard]] std::span<const Endpoint> later_endpoints();

// A sandbox's id as clients write it: some add "-" and a part of their own.
[[nodiscard]] std::string sandbox_named(std::string_view given);

}  // namespace oyat::e2b
