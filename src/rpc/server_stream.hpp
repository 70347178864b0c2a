#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/error.hpp"
#include "http/exchange.hpp"
#include "io/condition.hpp"
#include "rpc/envelope.hpp"

namespace oyat::rpc {

// The answering side of a streaming call. Messages are collected with add() and go out together with flush(),
// which waits while the client is slow. The head of the answer goes out with the first of them.
class ServerStream {
public:
    // `keepalive` is the message to send when nothing else was sent for `interval`.
    ServerStream(http::Exchange& exchange, std::string_view keepalive)
        : exchange_{exchange}, keepalive_{keepalive} {}

    // Adds one message; `fill` appends its JSON to the string that it gets.
    template <class Fill>
    void add(Fill fill) {
        const std::size_t at = open_envelope(buffer_);
        fill(buffer_);
        close_envelope(buffer_, at, 0);
    }
    Task<> flush();

    // Ends the stream: with what add() left, the end-of-stream envelope and the end of the body.
    Task<> finish();
    Task<> fail(const Error& error);

    // Sends keep-alives, once a first message went out, until it is canceled. Throws Error{deadline} at the
    // deadline.
    Task<> keep_alive(Millis interval, std::optional<Millis> timeout);

private:
    enum class Part { middle, last };
    Task<> write(Part part);  // what was added, once no other write is going on
    Task<> end(std::string payload);

    http::Exchange& exchange_;
    std::string_view keepalive_;
    std::string buffer_;   // what was added since the last flush
    std::string sending_;  // what is being written; the two swap, so that neither allocates for long
    bool writing_ = false;
    Condition written_;
    std::chrono::steady_clock::time_point last_write_{};
};

}  // namespace oyat::rpc
