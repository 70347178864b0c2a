#include "http/http2_exchange.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/defer.hpp"
#include "base/error.hpp"
#include "http/grammar.hpp"
#include "http/http2_connection.hpp"
#include "http/serialize.hpp"
#include "http/whole_body.hpp"

namespace oyat::http {
namespace {

Error client_left() {
    return Error{Errc::unavailable, Fault::client, "the client has ended its request"};
}

}  // namespace

Http2Exchange::Http2Exchange(Http2Connection& connection, std::int32_t stream, ParsedRequest request)
    : connection_{connection},
      stream_{stream},
      request_{std::move(request)},
      owes_continue_{request_.expects_continue},
      body_timeout_{connection.service_.options.body_timeout},
      body_deadline_{connection.executor_,
                     [this] {
                         body_late_ = true;
                         body_changed_.notify_all();
                     }},
      output_deadline_{connection.executor_, [this] { abort(); }} {}

Executor Http2Exchange::executor() const {
    return connection_.executor_;
}

void Http2Exchange::body_arrived(std::string_view bytes) {
    std::memcpy(body_.room(bytes.size()).data(), bytes.data(), bytes.size());
    body_.commit(bytes.size());
    body_changed_.notify_all();
}

void Http2Exchange::body_complete() {
    body_ended_ = true;
    body_changed_.notify_all();
}

void Http2Exchange::stream_closed() {
    closed_ = true;
    body_changed_.notify_all();
    output_taken_.notify_all();
    gone_.notify_all();
}

Task<> Http2Exchange::await_body() {
    body_late_ = false;
    body_deadline_.arm(body_timeout_);
    const Defer end{[this] { body_deadline_.disarm(); }};
    while (body_.empty() && !body_ended_ && !closed_ && !body_late_) co_await body_changed_.wait();
    if (!body_late_) co_return;
    body_failure_ = 408;
    throw Error{Errc::deadline, Fault::client, "the request's body came too slowly"};
}

Task<std::size_t> Http2Exchange::read_body(std::span<char> into) {
    if (phase_ == Phase::aborted || body_failure_ != 0) {
        throw Error{Errc::failed_precondition, "the request's body can't be read any more"};
    }
    if (std::exchange(owes_continue_, false) && !body_ended_ && !closed_ && phase_ == Phase::fresh) {
        connection_.session_.answer_continue(stream_);
        connection_.wake();
    }
    if (body_.empty() && !body_ended_) co_await await_body();
    if (body_.empty()) {
        if (body_ended_) co_return 0;
        throw client_left();
    }
    const std::size_t size = std::min(into.size(), body_.size());
    std::memcpy(into.data(), body_.view().data(), size);
    body_.consume(size);
    if (body_.empty()) body_.shrink();
    connection_.body_read(stream_, size);
    co_return size;
}

Task<std::string> Http2Exchange::read_whole_body(std::size_t limit) {
    return whole_body(*this, limit);
}

void Http2Exchange::begin_answer(int status, const Fields& fields, std::optional<std::uint64_t> length) {
    if (phase_ != Phase::fresh) throw Error{Errc::failed_precondition, "the request has been answered"};
    if (closed_) throw client_left();
    Fields head;
    for (const auto& [name, value] : fields) {
        if (!is_token(name) || !is_field_value(value)) {
            throw Error{Errc::invalid_argument, "a field that can't be in a head"};
        }
        if (!is_connection_field(fields, name)) head.add(name, value);
    }
    if (!head.has("Date")) head.add("Date", std::string{connection_.service_.date.value()});
    const bool bodyless_status = status < 200 || status == 204 || status == 304;
    if (length && !bodyless_status) head.add("Content-Length", std::to_string(*length));
    has_answer_body_ = !bodyless_status && request_.head.method != "HEAD" && length != 0;
    end_taken_ = !has_answer_body_;
    left_ = length;
    connection_.session_.answer(stream_, status, head,
                                has_answer_body_ ? Http2Session::Body::follows : Http2Session::Body::none);
    phase_ = Phase::started;
    connection_.wake();
}

BodyPiece Http2Exchange::next_piece(std::span<char> into) {
    if (phase_ == Phase::aborted) return {.state = BodyPiece::State::broken};
    const std::size_t size = std::min(into.size(), output_.size());
    if (size > 0) std::memcpy(into.data(), output_.data(), size);
    output_.remove_prefix(size);
    const bool last = output_.empty() && output_ends_;
    if (output_.empty()) output_taken_.notify_all();
    if (last) end_taken_ = true;
    const bool trailed = last && trailers_.size() > 0;
    if (trailed) connection_.session_.trailers(stream_, trailers_);
    return {.size = size,
            .state = trailed    ? BodyPiece::State::before_trailers
                     : last     ? BodyPiece::State::last
                     : size > 0 ? BodyPiece::State::more
                                : BodyPiece::State::not_yet};
}

// What is sent is taken when the client's windows and its socket have room for it.
Task<> Http2Exchange::await_taken() {
    if (!has_answer_body_) co_return;
    output_deadline_.arm(connection_.service_.options.write_timeout);
    const Defer end{[this] {
        output_deadline_.disarm();
        output_ = {};  // it is the caller's
    }};
    connection_.session_.more_body(stream_);
    connection_.wake();
    const auto taken = [this] { return output_.empty() && (!output_ends_ || end_taken_); };
    while (!taken() && !closed_) co_await output_taken_.wait();
    if (!taken()) throw client_left();
}

void Http2Exchange::require_started() const {
    if (phase_ == Phase::aborted || (phase_ == Phase::started && closed_ && !end_taken_)) throw client_left();
    if (phase_ != Phase::started) throw Error{Errc::failed_precondition, "no answer is being written"};
}

void Http2Exchange::count_sized(std::size_t bytes) {
    if (!left_) return;
    if (bytes > *left_) throw Error{Errc::internal, "the answer is longer than it was announced"};
    *left_ -= bytes;
}

Task<> Http2Exchange::respond(int status, Fields fields, std::string body) {
    begin_answer(status, fields, body.size());
    output_ = body;
    output_ends_ = true;
    co_await await_taken();
    phase_ = Phase::finished;
}

Task<> Http2Exchange::start(int status, Fields fields, std::optional<std::uint64_t> length) {
    begin_answer(status, fields, length);
    co_return;
}

Task<> Http2Exchange::write(std::string_view bytes) {
    require_started();
    count_sized(bytes.size());
    if (bytes.empty()) co_return;
    output_ = bytes;
    co_await await_taken();
}

Task<> Http2Exchange::finish() {
    return finish_with({});
}

Task<> Http2Exchange::finish_with(std::string_view last) {
    require_started();
    count_sized(last.size());
    if (left_.value_or(0) > 0 && has_answer_body_) {
        abort();
        throw Error{Errc::internal, "the answer is shorter than it was announced"};
    }
    output_ = last;
    output_ends_ = true;
    co_await await_taken();
    phase_ = Phase::finished;
}

void Http2Exchange::abort() {
    if (phase_ == Phase::aborted) return;
    phase_ = Phase::aborted;
    if (!closed_) connection_.session_.reset(stream_, Http2Reason::internal_error);
    connection_.wake();
    stream_closed();
}

Task<> Http2Exchange::client_gone() {
    // A stream whose answer is complete closes by itself: nobody went away.
    while (!closed_ || end_taken_) co_await gone_.wait();
}

Task<std::unique_ptr<Stream>> Http2Exchange::take_over(std::string) {
    throw Error{Errc::failed_precondition, "a connection of HTTP/2 can't be taken over"};
    co_return nullptr;
}

}  // namespace oyat::http
