#pragma once

#include <string_view>

#include "http/byte_buffer.hpp"
#include "http/head.hpp"
#include "io/stream.hpp"
#include "io/task.hpp"

namespace oyat::http {

// Reads the head of the final answer to a request of this method. Interim answers are passed over, at most a
// few. Throws Error{unavailable} when the stream ends before, or when what comes is not HTTP/1.1. Sets no
// time limit.
Task<ParsedResponse> read_response_head(Stream& stream, ByteBuffer& input, std::string_view method);

}  // namespace oyat::http
