#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/e2b/destination.hpp"
#include "core/exposure.hpp"
#include "http/exchange.hpp"

namespace oyat::e2b {

// A link carries its signature in the query: ?oyat_link=...
inline constexpr std::string_view kLinkParameter = "oyat_link";

// Who comes to a port of a sandbox: what the request brings to be let in, and what is left of the request
// when that has been taken out. The server inside must not see what it could use against its visitor.
struct Visitor {
    enum class LinkFrom { nowhere, query, cookie };

    core::Credentials credentials;
    LinkFrom link_from = LinkFrom::nowhere;
    std::string target;                  // without the link
    std::optional<std::string> cookies;  // without ours; nothing when there was none of ours
};
[[nodiscard]] Visitor visitor_of(const http::RequestHead& head, const ToPort& to);

// A target as the value of a Location field: "//evil.example/" would lead a browser to another host (RFC
// 3986, 4.2), as would a backslash, which browsers take for a slash.
[[nodiscard]] std::string location_here(std::string_view target);

// Keeps the link for the next requests of the same browser to the same host, until `end`.
[[nodiscard]] std::string link_cookie(const http::RequestHead& head, std::string_view link, WallTime end,
                                      WallTime now);

// Browsers send a cookie along whoever wrote the page that asks. Sandboxes are neighbours below one domain
// and may be each other's enemies: a cookie lets in only a page of the same host, or a person who follows a
// link (threats C-07).
[[nodiscard]] bool is_from_own_page(const http::RequestHead& head);

// A person looks at the answer.
[[nodiscard]] bool is_browser(const http::RequestHead& head);

}  // namespace oyat::e2b
