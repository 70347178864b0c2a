#include "http/http2_head.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "http/grammar.hpp"

namespace oyat::http {
namespace {

auto malformed(std::string what) {
    return refuse(Errc::invalid_argument, std::move(what));
}

struct Pseudo {
    std::optional<std::string_view> method, scheme, path, authority;

    std::optional<std::string_view>* find(std::string_view name) {
        if (name == ":method") return &method;
        if (name == ":scheme") return &scheme;
        if (name == ":path") return &path;
        if (name == ":authority") return &authority;
        return nullptr;
    }
};

// RFC 9113, 8.2.2: these speak of a connection that is not there.
bool is_forbidden(std::string_view name, std::string_view value) {
    constexpr std::array<std::string_view, 5> kForbidden = {"connection", "keep-alive", "proxy-connection",
                                                            "transfer-encoding", "upgrade"};
    return std::ranges::find(kForbidden, name) != kForbidden.end() || (name == "te" && value != "trailers");
}

bool is_lower_case(std::string_view name) {
    return std::ranges::none_of(name, [](char c) { return c >= 'A' && c <= 'Z'; });
}

}  // namespace

Result<ParsedRequest> parse_http2_request(const Http2Fields& fields, bool ends_here) {
    Pseudo pseudo;
    std::string lines;
    std::string cookies;
    std::optional<std::string_view> host;
    bool regular = false;
    bool sized = false;
    for (const auto& [name, value] : fields) {
        // Whatever could end a line of the text below stops here.
        if (!is_field_value(value)) return malformed("invalid field value");
        if (name.starts_with(':')) {
            auto* const slot = pseudo.find(name);
            if (slot == nullptr || slot->has_value() || regular) return malformed("invalid pseudo-header");
            *slot = value;
            continue;
        }
        regular = true;
        if (!is_token(name) || !is_lower_case(name)) return malformed("invalid field name");
        if (is_forbidden(name, value)) return malformed("a field of HTTP/1.1 connections");
        if (name == "host") {
            if (host) return malformed("a request has exactly one Host");
            host = value;
        } else if (name == "cookie") {
            // Sent in pieces for the sake of compression (8.2.3).
            cookies.append(cookies.empty() ? "" : "; ").append(value);
        } else {
            sized |= name == "content-length";
            lines.append(name).append(": ").append(value).append("\r\n");
        }
    }
    // No CONNECT: it alone would lack scheme and path. This server is only spoken to by TLS.
    if (!pseudo.method || !pseudo.path || pseudo.scheme != "https") {
        return malformed("a request has a method, a path and the scheme https");
    }
    if (pseudo.authority && host && *pseudo.authority != *host) {
        return malformed("Host is another than :authority");
    }
    const std::optional<std::string_view> authority = pseudo.authority ? pseudo.authority : host;
    if (!authority) return malformed("a request has exactly one Host");

    std::string text;
    text.append(*pseudo.method).append(" ").append(*pseudo.path).append(" HTTP/1.1\r\nHost: ");
    text.append(*authority).append("\r\n").append(lines);
    if (!cookies.empty()) text.append("cookie: ").append(cookies).append("\r\n");
    const bool unsized_body = !ends_here && !sized;
    if (unsized_body) text.append("Transfer-Encoding: chunked\r\n");
    text.append("\r\n");
    Result<ParsedRequest> parsed = parse_request_head(text);
    if (!parsed) return parsed;
    if (ends_here && parsed->head.has_body) return malformed("the announced body is missing");
    if (unsized_body) parsed->head.fields.remove("Transfer-Encoding");
    return parsed;
}

}  // namespace oyat::http
