// Lists of fields as HTTP/2 brings them: "name\x01value\x02...". What is accepted means the same when it is
// written for an upstream, and no name or value has become a line of its own (threats C-04, C-05).

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.hpp"
#include "http/head.hpp"
#include "http/http2_head.hpp"
#include "http/proxy_fields.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    using namespace oyat::http;
    if (size == 0) return 0;
    std::string_view text{reinterpret_cast<const char*>(data), size};
    const bool ends_here = (text.front() & 1) != 0;
    text.remove_prefix(1);
    Http2Fields fields;
    while (!text.empty()) {
        const std::string_view pair = text.substr(0, text.find('\x02'));
        text.remove_prefix(std::min(pair.size() + 1, text.size()));
        const std::string_view name = pair.substr(0, pair.find('\x01'));
        fields.emplace_back(name, pair.substr(std::min(name.size() + 1, pair.size())));
    }
    const auto parsed = parse_http2_request(fields, ends_here);
    if (!parsed) return 0;
    OYAT_ASSERT(!parsed->head.wants_upgrade);
    OYAT_ASSERT(!ends_here || !parsed->head.has_body);
    OYAT_ASSERT(parsed->head.fields.size() <= fields.size());
    const std::string again = upstream_request_head(parsed->head, {});
    OYAT_ASSERT(find_head_end(again, 0) == again.size());
    const auto second = parse_request_head(again);
    OYAT_ASSERT(second.has_value());
    OYAT_ASSERT(second->head.method == parsed->head.method);
    OYAT_ASSERT(second->head.target == parsed->head.target);
    OYAT_ASSERT(second->head.host == parsed->head.host);
    return 0;
}
