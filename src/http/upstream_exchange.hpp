#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "http/byte_buffer.hpp"
#include "http/client.hpp"
#include "http/exchange.hpp"
#include "http/request_transform.hpp"
#include "io/stream.hpp"

namespace oyat::http {

// A connection to a server that carries one exchange after the other, all of the same client.
struct UpstreamConnection {
    std::unique_ptr<Stream> stream;
    ByteBuffer input;       // read from it, but not used yet
    bool reusable = false;  // the last exchange ended where the next may begin
    std::size_t exchanges = 0;
    bool http2 = false;  // as agreed with the server
};

// How one exchange is passed on.
struct Passing {
    std::string head;  // of the request, complete, as the upstream gets it
    // What follows it instead of the client's own body: when that is known, and perhaps changed.
    std::optional<std::string> body;
    std::string body_began;  // of the client's own body: what was read already
    // Called with each piece of the client's body before it leaves. What it throws ends the exchange.
    std::function<void(std::string_view)> see_body;
    // The fields that the client gets of an answer.
    std::function<Fields(const ResponseHead&)> answer_fields;
    AnswerFilter* answer_filter = nullptr;  // of the answer's body; null: it passes as it is
    std::function<void()> on_head;          // the upstream's answer has begun
    Millis answer_limit{0};  // for the head of the answer after the request's last byte; 0: none
};

// Passes the exchange to the upstream and the answer back, streamed both ways. After a 101 that was asked
// for, bytes are spliced both ways until either side ends. Returns normally when the client went away or the
// upstream's answer broke off: the exchange is then aborted. Throws Error{unavailable} when the upstream ends
// before its head came or does not speak HTTP/1.1, Error{deadline} when it says nothing in time; the exchange
// is then still unanswered.
Task<> pass_exchange(Exchange& exchange, UpstreamConnection& upstream, Passing passing);

}  // namespace oyat::http
