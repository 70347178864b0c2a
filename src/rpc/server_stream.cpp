#include "rpc/server_stream.hpp"

#include <algorithm>

#include "base/defer.hpp"
#include "io/timer.hpp"
#include "rpc/code.hpp"
#include "rpc/error_body.hpp"

namespace oyat::rpc {
namespace {

using SteadyClock = std::chrono::steady_clock;

}  // namespace

Task<> ServerStream::write(Part part) {
    while (writing_) co_await written_.wait();
    if (buffer_.empty()) co_return;
    writing_ = true;
    const Defer done{[this] {
        writing_ = false;
        written_.notify_one();
    }};
    sending_.swap(buffer_);
    buffer_.clear();
    if (!exchange_.started()) {
        co_await exchange_.start(200, {{"Content-Type", "application/connect+json"}}, std::nullopt);
    }
    if (part == Part::last) {
        co_await exchange_.finish_with(sending_);
    } else {
        co_await exchange_.write(sending_);
    }
    last_write_ = SteadyClock::now();
}

Task<> ServerStream::flush() {
    return write(Part::middle);
}

Task<> ServerStream::finish() {
    return end("{}");
}

Task<> ServerStream::fail(const Error& error) {
    // What is a field of the head elsewhere stands in the last message of a stream.
    const bool too_fast = code_of(error) == Code::resource_exhausted;
    return end("{\"error\":" + error_body(error) +
               (too_fast ? R"(,"metadata":{"retry-after":["1"]}})" : "}"));
}

Task<> ServerStream::end(std::string payload) {
    append_envelope(buffer_, Envelope::kEndOfStream, payload);
    co_await write(Part::last);
}

Task<> ServerStream::keep_alive(Millis interval, std::optional<Millis> timeout) {
    const SteadyClock::time_point began = SteadyClock::now();
    last_write_ = began;
    while (true) {
        const SteadyClock::time_point now = SteadyClock::now();
        SteadyClock::time_point wake = last_write_ + interval;
        if (wake <= now) {
            // A write that is still going on is sign of life enough.
            if (exchange_.started() && !writing_) {
                add([this](std::string& out) { out += keepalive_; });
                co_await flush();
            }
            last_write_ = now;
            wake = now + interval;
        }
        if (timeout) {
            if (now >= began + *timeout) throw Error{Errc::deadline, "context deadline exceeded"};
            wake = std::min(wake, began + *timeout);
        }
        co_await sleep_for(wake - now);
    }
}

}  // namespace oyat::rpc
