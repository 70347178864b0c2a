#include <cstddef>
#include <cstdint>
#include <string_view>

#include "base/assert.hpp"
#include "egress/request_facts.hpp"

// What is written for an upstream is read there as we read what the program sent: one request, to the host
// that was judged, and nothing behind its head.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace oyat;
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const Result<http::ParsedRequest> sent = http::parse_request_head(text);
    if (!sent) return 0;
    const http::RequestHead& head = sent->head;
    const Result<std::string> host = egress::named_host(head, IpAddress::v4(0xC0000207), 80);
    OYAT_ASSERT(!egress::possible_methods(head).empty());
    OYAT_ASSERT(egress::path_for_record(head.path).size() < 140);
    if (!host) return 0;

    const http::OutgoingRequest request{.host = *host,
                                        .port = 80,
                                        .tls = false,
                                        .method = head.method,
                                        .target = head.target,
                                        .fields = egress::message_fields(head.fields),
                                        .body = {}};
    const std::string written = egress::outgoing_head(request, head);
    OYAT_ASSERT(http::find_head_end(written, 0) == written.size());
    const Result<http::ParsedRequest> read = http::parse_request_head(written);
    OYAT_ASSERT(read && read->head.method == head.method && read->head.target == head.target);
    OYAT_ASSERT(read->head.content_length == head.content_length && read->head.has_body == head.has_body);
    OYAT_ASSERT(egress::named_host(read->head, IpAddress::v4(0xC0000207), 80) == host.value());
    return 0;
}
