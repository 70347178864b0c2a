#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.hpp"
#include "http/head.hpp"

namespace oyat::http {

// A request's head as HTTP/2 carries it, in the order it came.
using Http2Fields = std::vector<std::pair<std::string, std::string>>;

// Writes the head as one of HTTP/1.1 and has the one strict parser read that: what is refused there is
// refused here, and no upstream can read a request otherwise than we did (RFC 9113, 8.2 and 8.3; threats
// C-04, C-05). `ends_here`: no body follows.
[[nodiscard]] Result<ParsedRequest> parse_http2_request(const Http2Fields& fields, bool ends_here);

}  // namespace oyat::http
