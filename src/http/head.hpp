#pragma once

#include <cstddef>
#include <string_view>

#include "base/result.hpp"
#include "http/client.hpp"
#include "http/exchange.hpp"

// Heads of messages, parsed by pure functions. They refuse whatever two readers could understand differently
// (threats C-05, C-06): whoever got past them may be re-serialised and is then read alike by everybody.
namespace oyat::http {

constexpr std::size_t kMaxTargetBytes = 16 * 1024;
constexpr std::size_t kMaxFieldCount = 256;

// The length of the head at the front of `bytes`, its empty line included; npos when it is not complete.
// Bytes before `searched` were looked at by an earlier call. Also stops at an empty line made of bare LFs,
// for the parsers to refuse.
[[nodiscard]] std::size_t find_head_end(std::string_view bytes, std::size_t searched) noexcept;

enum class BodyKind {
    none,
    sized,  // Content-Length
    chunked,
    until_close,  // responses only
};

struct ParsedRequest {
    RequestHead head;  // without peer and tls
    BodyKind body = BodyKind::none;
    bool keep_alive = true;
    bool expects_continue = false;
    bool http_1_0 = false;
};
[[nodiscard]] Result<ParsedRequest> parse_request_head(std::string_view head);

struct ParsedResponse {
    ResponseHead head;
    BodyKind body = BodyKind::none;
    bool keep_alive = true;
};
// `method` of the request that is being answered: the answer to a HEAD has no body whatever it says.
[[nodiscard]] Result<ParsedResponse> parse_response_head(std::string_view head, std::string_view method);

}  // namespace oyat::http
