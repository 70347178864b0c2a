#include "egress/request_facts.hpp"

#include <algorithm>
#include <array>

#include "base/error.hpp"
#include "http/grammar.hpp"
#include "http/serialize.hpp"
#include "policy/names.hpp"

namespace oyat::egress {
namespace {

constexpr std::size_t kRecordedSegments = 4;
constexpr std::size_t kRecordedBytes = 128;
constexpr std::size_t kShownBytes = 200;

constexpr std::array<std::string_view, 3> kOverridingFields = {"X-HTTP-Method-Override", "X-HTTP-Method",
                                                               "X-Method-Override"};

std::string upper(std::string_view text) {
    std::string result{text};
    std::ranges::transform(result, result.begin(),
                           [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; });
    return result;
}

std::string lower(std::string_view text) {
    std::string result{text};
    std::ranges::transform(result, result.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return result;
}

std::string_view without_brackets(std::string_view host) {
    return host.starts_with('[') ? host.substr(1, host.size() - 2) : host;
}

std::string authority(const http::OutgoingRequest& request, const http::RequestHead& as_sent) {
    std::string text = request.host.empty() ? as_sent.host : request.host;
    if (as_sent.host_port != 0) text.append(":").append(std::to_string(as_sent.host_port));
    return text;
}

void require_whole_target(const http::OutgoingRequest& request) {
    const bool whole = std::ranges::all_of(request.target, [](char c) {
        const auto byte = static_cast<unsigned char>(c);
        return byte > 0x20 && byte != 0x7f;
    });
    if (!whole || request.target.empty()) {
        throw Error{Errc::invalid_argument, "a request's target has characters that may not be in one"};
    }
}

}  // namespace

Result<std::string> named_host(const http::RequestHead& head, const IpAddress& address, std::uint16_t port) {
    if (head.host.empty()) return refuse(Errc::denied, "it names no host");
    if (head.host_port != 0 && head.host_port != port) {
        return refuse(Errc::denied, "its Host names another port than the connection's");
    }
    if (const Result<IpAddress> literal = IpAddress::parse(without_brackets(head.host))) {
        if (*literal == address) return std::string{};
        return refuse(Errc::denied, "its Host is another address than the connection's");
    }
    Result<std::string> name = policy::canonical_host(head.host);
    if (!name) return refuse(Errc::denied, "its Host is not a name");
    return name;
}

std::vector<std::string> possible_methods(const http::RequestHead& head) {
    std::vector<std::string> methods;
    const auto add = [&](std::string method) {
        if (std::ranges::find(methods, method) == methods.end()) methods.push_back(std::move(method));
    };
    add(head.method);
    add(upper(head.method));
    for (const auto& [name, value] : head.fields) {
        const bool overrides = std::ranges::any_of(kOverridingFields, [&name](std::string_view other) {
            return http::equal_ignoring_case(name, other);
        });
        if (overrides) add(upper(value));
    }
    return methods;
}

std::string path_for_record(std::string_view path) {
    std::size_t end = 0;
    for (std::size_t segment = 0; segment <= kRecordedSegments && end < path.size(); ++segment) {
        if (segment == kRecordedSegments)
            return std::string{path.substr(0, std::min(end, kRecordedBytes))} + "/...";
        end = std::min(path.find('/', end + 1), path.size());
    }
    if (path.size() > kRecordedBytes) return std::string{path.substr(0, kRecordedBytes)} + "...";
    return std::string{path};
}

std::string url_for_people(const http::RequestHead& head, bool tls) {
    std::string url = tls ? "https://" : "http://";
    url.append(head.host);
    if (head.host_port != 0) url.append(":").append(std::to_string(head.host_port));
    url.append(head.path);
    if (url.size() > kShownBytes) url.replace(kShownBytes, url.npos, "...");
    return url;
}

http::Fields message_fields(const http::Fields& fields) {
    http::Fields kept;
    for (const auto& [name, value] : fields) {
        if (!http::is_connection_field(fields, name) && !http::equal_ignoring_case(name, "Host")) {
            kept.add(name, value);
        }
    }
    return kept;
}

http::Http2Fields outgoing_fields(const http::OutgoingRequest& request, const http::RequestHead& as_sent) {
    require_whole_target(request);
    http::Http2Fields made{{":method", request.method},
                           {":scheme", "https"},
                           {":authority", authority(request, as_sent)},
                           {":path", request.target}};
    for (const auto& [name, value] : request.fields) {
        if (!http::is_token(name) || !http::is_field_value(value)) {
            throw Error{Errc::invalid_argument, "a field that can't be in a head"};
        }
        if (!http::equal_ignoring_case(name, "Expect")) made.emplace_back(lower(name), value);
    }
    if (request.body) {
        made.emplace_back("content-length", std::to_string(request.body->size()));
    } else if (as_sent.content_length) {
        made.emplace_back("content-length", std::to_string(*as_sent.content_length));
    }
    if (as_sent.fields.has_token("TE", "trailers")) made.emplace_back("te", "trailers");
    return made;
}

std::string outgoing_head(const http::OutgoingRequest& request, const http::RequestHead& as_sent) {
    require_whole_target(request);
    std::string head = request.method + " " + request.target + " HTTP/1.1\r\n";
    http::append_field(head, "Host", authority(request, as_sent));
    for (const auto& [name, value] : request.fields) {
        // We have asked for the body already when it was wanted.
        if (!http::equal_ignoring_case(name, "Expect")) http::append_field(head, name, value);
    }
    if (request.body) {
        http::append_field(head, "Content-Length", std::to_string(request.body->size()));
    } else if (as_sent.content_length) {
        http::append_field(head, "Content-Length", std::to_string(*as_sent.content_length));
    } else if (as_sent.has_body) {
        http::append_field(head, "Transfer-Encoding", "chunked");
    }
    if (as_sent.wants_upgrade) {
        http::append_field(head, "Connection", "Upgrade");
        http::append_field(head, "Upgrade", as_sent.fields.get("Upgrade"));
    }
    return head.append("\r\n");
}

}  // namespace oyat::egress
