#include "http/proxy_fields.hpp"

#include <algorithm>
#include <array>

#include "http/serialize.hpp"

namespace oyat::http {
namespace {

std::string_view trimmed(std::string_view text) {
    const auto first = text.find_first_not_of(" \t");
    if (first == text.npos) return {};
    return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

// Fields whose word would reach beyond the sandbox: to its neighbours' hosts, or to everything on a shared
// one.
constexpr std::array<std::string_view, 3> kReachingTooFar = {"Strict-Transport-Security", "Clear-Site-Data",
                                                             "Public-Key-Pins"};

bool is_dropped(const std::vector<std::string>& dropped, std::string_view name) {
    return std::ranges::any_of(dropped,
                               [name](const std::string& other) { return equal_ignoring_case(name, other); });
}

}  // namespace

std::string upstream_request_head(const RequestHead& head, const ProxyOptions& options) {
    std::string out =
        head.method + " " + (options.target.empty() ? head.target : options.target) + " HTTP/1.1\r\n";
    append_field(out, "Host",
                 options.host.empty() ? head.fields.get("Host") : std::string_view{options.host});
    for (const auto& [name, value] : head.fields) {
        if (is_connection_field(head.fields, name) || equal_ignoring_case(name, "Host") ||
            equal_ignoring_case(name, "Expect") || options.extra_fields.has(name) ||
            is_dropped(options.dropped_fields, name)) {
            continue;
        }
        append_field(out, name, value);
    }
    for (const auto& [name, value] : options.extra_fields) append_field(out, name, value);
    if (head.content_length) {
        append_field(out, "Content-Length", std::to_string(*head.content_length));
    } else if (head.has_body) {
        append_field(out, "Transfer-Encoding", "chunked");
    }
    if (head.wants_upgrade) {
        append_field(out, "Connection", "Upgrade");
        append_field(out, "Upgrade", head.fields.get("Upgrade"));
    } else {
        append_field(out, "Connection", "close");  // one exchange, one connection
    }
    return out.append("\r\n");
}

Fields client_response_fields(const RequestHead& request, const ResponseHead& response,
                              const ProxyOptions& options) {
    Fields kept;
    for (const auto& [name, value] : response.fields) {
        if (is_connection_field(response.fields, name)) continue;
        if (std::ranges::any_of(kReachingTooFar, [&name](std::string_view other) {
                return equal_ignoring_case(name, other);
            })) {
            continue;
        }
        // Below a path of a shared host, a service worker for "/" would be one for every sandbox there.
        if (!options.target.empty() && equal_ignoring_case(name, "Service-Worker-Allowed")) continue;
        const bool is_cookie = equal_ignoring_case(name, "Set-Cookie");
        kept.add(name, is_cookie ? confined_cookie(value, request.host) : value);
    }
    return kept;
}

std::string confined_cookie(std::string_view cookie, std::string_view host) {
    std::string kept;
    for (bool first = true; !cookie.empty(); first = false) {
        const auto end = std::min(cookie.find(';'), cookie.size());
        const std::string_view attribute = trimmed(cookie.substr(0, end));
        cookie.remove_prefix(std::min(end + 1, cookie.size()));
        const auto equals = std::min(attribute.find('='), attribute.size());
        if (!first && equal_ignoring_case(trimmed(attribute.substr(0, equals)), "Domain")) {
            std::string_view domain = trimmed(attribute.substr(std::min(equals + 1, attribute.size())));
            if (domain.starts_with('.')) domain.remove_prefix(1);
            if (!equal_ignoring_case(domain, host)) continue;
        }
        if (!first) kept.append("; ");
        kept.append(attribute);
    }
    return kept;
}

}  // namespace oyat::http
