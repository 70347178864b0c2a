#include "rpc/request_stream.hpp"

#include "base/throwing.hpp"
#include "rpc/message.hpp"

namespace oyat::rpc {

Task<std::optional<boost::json::object>> RequestStream::next() {
    while (true) {
        std::optional<Envelope> envelope = or_throw(reader_.next());
        if (envelope && (envelope->flags & Envelope::kEndOfStream) == 0) {
            co_return or_throw(parse_object(envelope->payload));
        }
        if (envelope)
            continue;  // a client's end-of-stream envelope says nothing that the body's end does not
        const std::size_t size = co_await exchange_.read_body(piece_);
        if (size == 0) {
            if (!reader_.at_boundary()) throw Error{Errc::invalid_argument, "request ends inside a message"};
            co_return std::nullopt;
        }
        reader_.feed({piece_.data(), size});
    }
}

}  // namespace oyat::rpc
