#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.hpp"
#include "http/head.hpp"
#include "http/http2_head.hpp"
#include "http/request_transform.hpp"
#include "io/ip_address.hpp"

// What a request that is read says of itself, as rules, the record and its upstream need it. Pure: the head
// has passed http's parser, and is a sandbox's all the same.
namespace oyat::egress {

// The name that Host gives the request, canonical; "" when it is the very address of the connection. Refused:
// no Host, one that is no name, another address, another port.
[[nodiscard]] Result<std::string> named_host(const http::RequestHead& head, const IpAddress& address,
                                             std::uint16_t port);

// Every method that a server might take the request for: some ignore case, some obey a field that overrides
// it (threats E-12). All have to be allowed.
[[nodiscard]] std::vector<std::string> possible_methods(const http::RequestHead& head);

// The first segments of a path, for the record: "/acme/shop.git/...". Never the query, which may hold
// anything.
[[nodiscard]] std::string path_for_record(std::string_view path);

// "http://a.test:8080/x" as one line for people, of bounded length.
[[nodiscard]] std::string url_for_people(const http::RequestHead& head, bool tls);

// The request anew, as its upstream gets it. Throws Error{invalid_argument} when a field or the target has
// characters that would end it.
[[nodiscard]] std::string outgoing_head(const http::OutgoingRequest& request,
                                        const http::RequestHead& as_sent);

// The same for an upstream that speaks HTTP/2.
[[nodiscard]] http::Http2Fields outgoing_fields(const http::OutgoingRequest& request,
                                                const http::RequestHead& as_sent);

// The fields of a message but Host and those that belong to a connection.
[[nodiscard]] http::Fields message_fields(const http::Fields& fields);

}  // namespace oyat::egress
