// What a client or a sandbox sends first. Besides not crashing: a head that was accepted and written anew for
// an upstream is accepted again and means the same, so nobody behind us reads it differently (threats C-05).

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "http/grammar.hpp"
#include "http/head.hpp"
#include "http/proxy_fields.hpp"
#include "http/router.hpp"
#include "http/url.hpp"

namespace {

using namespace oyat::http;

void check_request(std::string_view text) {
    const auto parsed = parse_request_head(text);
    if (!parsed) return;
    const std::string again = upstream_request_head(parsed->head, {});
    OYAT_ASSERT(find_head_end(again, 0) == again.size());
    // A request of HTTP/1.0 may lack the Host that ours then can't have.
    if (parsed->http_1_0 && parsed->head.host.empty()) return;
    const auto second = parse_request_head(again);
    OYAT_ASSERT(second.has_value());
    OYAT_ASSERT(second->head.method == parsed->head.method);
    OYAT_ASSERT(second->head.target == parsed->head.target);
    OYAT_ASSERT(second->head.host == parsed->head.host);
    OYAT_ASSERT(second->body == parsed->body);
    OYAT_ASSERT(second->head.content_length == parsed->head.content_length);
    OYAT_ASSERT(second->head.wants_upgrade == parsed->head.wants_upgrade);

    (void)Query::parse(parsed->head.query);
    Router router;
    router.add("GET", "/a/{b}/c", {});
    router.add("GET", "/{a}/{rest*}", {});
    (void)router.find("GET", parsed->head.path);
}

void check_response(std::string_view text) {
    const auto parsed = parse_response_head(text, "GET");
    if (!parsed) return;
    RequestHead request;
    request.host = "a.example.org";
    for (const auto& [name, value] : client_response_fields(request, parsed->head, {})) {
        OYAT_ASSERT(is_token(name) && is_field_value(value));
        OYAT_ASSERT(!equal_ignoring_case(name, "Content-Length"));
        OYAT_ASSERT(!equal_ignoring_case(name, "Transfer-Encoding"));
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const std::size_t end = find_head_end(text, 0);
    if (end == text.npos) return 0;
    for (std::size_t searched = 0; searched < end; searched += 1 + searched / 2) {
        OYAT_ASSERT(find_head_end(text, searched) == end);
    }
    check_request(text.substr(0, end));
    check_response(text.substr(0, end));
    return 0;
}
