#pragma once

#include "http/http2_head.hpp"
#include "http/upstream_exchange.hpp"

namespace oyat::http {

// As pass_exchange(), to a server that speaks HTTP/2, and with the trailers of its answer: what gRPC needs.
// `head` are the fields of the request as the server gets them, pseudo-header fields first; `passing.head` is
// not used. The connection carries this exchange alone and is not used again.
Task<> pass_http2_exchange(Exchange& exchange, UpstreamConnection& upstream, Http2Fields head,
                           Passing passing);

}  // namespace oyat::http
