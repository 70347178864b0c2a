#pragma once

#include <string>
#include <string_view>

#include "http/fields.hpp"
#include "http/head.hpp"
#include "http/proxy.hpp"

// What a proxied message's head becomes on the other side: pure functions.
namespace oyat::http {

// The request for the upstream, written anew from what was parsed.
[[nodiscard]] std::string upstream_request_head(const RequestHead& head, const ProxyOptions& options);

// The fields of the answer that the client may see (threats C-06): none that belong to the upstream's
// connection, no policy for more than the sandbox's own host, no cookie for other hosts.
[[nodiscard]] Fields client_response_fields(const RequestHead& request, const ResponseHead& response,
                                            const ProxyOptions& options);

// A Set-Cookie value without its Domain attribute unless that is the host itself. Without one, a cookie
// belongs to the host that set it and no other.
[[nodiscard]] std::string confined_cookie(std::string_view cookie, std::string_view host);

}  // namespace oyat::http
