// What the control plane reads: create requests, list queries, cursors, times, and where a request goes.

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "api/e2b/acting_user.hpp"
#include "api/e2b/byte_range.hpp"
#include "api/e2b/create_request.hpp"
#include "api/e2b/destination.hpp"
#include "api/e2b/sandbox_list.hpp"
#include "api/e2b/timestamp.hpp"
#include "rpc/message.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    namespace e2b = oyat::e2b;
    const std::string_view text{reinterpret_cast<const char*>(data), size};
    const e2b::Settings settings;
    if (const auto object = oyat::rpc::parse_object(text)) {
        (void)e2b::read_create_request(*object, e2b::CreateForm::v1, settings);
        (void)e2b::read_create_request(*object, e2b::CreateForm::v2, settings);
    }
    if (const auto query = oyat::http::Query::parse(text)) (void)e2b::ListQuery::parse(*query);
    (void)e2b::parse_metadata_filter(text);
    (void)e2b::ListCursor::parse(text);
    (void)e2b::parse_timestamp(text);
    (void)e2b::acting_user(text);
    (void)e2b::range_for(text, 1000);
    oyat::http::RequestHead head;
    head.host = std::string{text};
    head.target = "/" + std::string{text};
    head.fields = {{"E2b-Sandbox-Id", std::string{text}}, {"E2b-Sandbox-Port", std::string{text}}};
    (void)e2b::destination_of(head);
    return 0;
}
