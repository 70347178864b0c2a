#include "http/connection.hpp"

#include <array>
#include <utility>
#include <vector>

#include "base/defer.hpp"
#include "base/log.hpp"
#include "http/failure_answer.hpp"
#include "http/serialize.hpp"
#include "http/served_exchange.hpp"
#include "io/cancel.hpp"

namespace oyat::http {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kHeadRead = 4096;
constexpr std::size_t kMaxDrained = 256 * 1024;
// A client in the middle of an upload that was refused (the disk is full) sees the answer only after it has
// sent the rest: most read nothing before.
constexpr std::size_t kMaxLingered = 256 * 1024 * 1024;
constexpr std::size_t kLingerRead = 64 * 1024;
constexpr auto kLingerTime = 10s;

}  // namespace

Connection::Connection(Executor executor, Accepted accepted, Service& service)
    : executor_{std::move(executor)},
      stream_{std::move(accepted.stream)},
      peer_{std::move(accepted.peer)},
      tls_{accepted.tls},
      service_{service},
      read_deadline_{executor_,
                     [this] {
                         timed_out_ = true;
                         if (stream_) stream_->shutdown_read();
                     }},
      write_deadline_{executor_,
                      [this] {
                          if (stream_) stream_->close();
                      }},
      helpers_{executor_, [](const std::exception_ptr&) {
                   // A head that could not be sent: the handler's next write meets the same.
               }} {}

Task<> Connection::serve() {
    std::exception_ptr error;
    try {
        co_await serve_requests();
    } catch (...) {
        error = std::current_exception();
    }
    if (stream_) stream_->close();
    co_await helpers_.close();
    // A client that went away is an ordinary end of a connection.
    if (is_canceled(error)) std::rethrow_exception(error);
}

void Connection::end_soon() {
    ending_ = true;
    if (reading_ == Reading::idle && stream_) stream_->shutdown_read();
}

Task<> Connection::serve_requests() {
    for (;;) {
        std::optional<ParsedRequest> request = co_await read_head();
        if (!request) co_return;
        request->head.peer = peer_;
        request->head.tls = tls_;
        if (co_await answer(*std::move(request)) == Next::end) co_return;
    }
}

Task<std::optional<ParsedRequest>> Connection::read_head() {
    const ServerOptions& options = service_.options;
    std::size_t searched = 0;
    if (input_.empty()) input_.shrink();
    for (;;) {
        // Some clients end a body with a line break too much.
        while (searched == 0 && input_.view().starts_with("\r\n")) input_.consume(2);
        const std::size_t end = find_head_end(input_.view(), searched);
        if (end != std::string_view::npos && end <= options.max_head_bytes) {
            end_reading();
            Result<ParsedRequest> request = parse_request_head(input_.view().substr(0, end));
            input_.consume(end);
            if (request) co_return *std::move(request);
            co_await refuse_request(400, request.error().message());
            co_return std::nullopt;
        }
        if (end != std::string_view::npos || input_.size() >= options.max_head_bytes) {
            co_await refuse_request(431, "the request's head is too long");
            co_return std::nullopt;
        }
        searched = input_.size();

        if (input_.empty()) {
            if (ending_) co_return std::nullopt;
            begin_reading(Reading::idle, options.idle_timeout);
        } else if (reading_ != Reading::head) {
            begin_reading(Reading::head, options.head_timeout);
        }
        const std::size_t got = co_await stream_->read_some(input_.room(kHeadRead));
        if (got == 0) {
            const bool slow = timed_out_ && !input_.empty();
            end_reading();
            if (slow) co_await refuse_request(408, "the request's head came too slowly");
            co_return std::nullopt;
        }
        input_.commit(got);
    }
}

Task<Connection::Next> Connection::answer(ParsedRequest request) {
    ServedExchange exchange{*this, std::move(request)};
    std::exception_ptr error;
    try {
        co_await service_.handler(exchange);
    } catch (...) {
        error = std::current_exception();
    }
    using Phase = ServedExchange::Phase;
    if (exchange.phase() == Phase::taken) co_return Next::end;
    if (exchange.phase() != Phase::finished) co_return co_await answer_failed(exchange, error);

    if (!exchange.keeps_connection() || !co_await drain(exchange)) {
        co_await linger();
        co_return Next::end;
    }
    co_return Next::another_request;
}

Task<Connection::Next> Connection::answer_failed(ServedExchange& exchange, std::exception_ptr error) {
    if (is_canceled(error) || exchange.phase() == ServedExchange::Phase::aborted) co_return Next::end;
    if (exchange.phase() == ServedExchange::Phase::started) {
        if (error) log::warn("an answer broke off", {{"error", public_message(error)}});
        exchange.abort();
        co_return Next::end;
    }
    const int status = exchange.body_failure() != 0 ? exchange.body_failure() : 500;
    const std::string message = error ? public_message(error) : "no handler answered";
    if (status == 500) log::error("request failed", {{"error", message}});
    exchange.forbid_keep_alive();
    co_await exchange.respond(status, {{"Content-Type", "application/json"}}, failure_body(status, message));
    co_await linger();
    co_return Next::end;
}

// Reads what the handler left of the body, so that the next request is found behind it. False when that is
// too much.
Task<bool> Connection::drain(ServedExchange& exchange) {
    std::size_t drained = 0;
    std::array<char, kHeadRead> unused;
    while (!exchange.body_done()) {
        drained += co_await exchange.read_body(unused);
        if (drained > kMaxDrained) co_return false;
    }
    co_return true;
}

Task<> Connection::refuse_request(int status, std::string message) {
    if (service_.on_refused) service_.on_refused(message);
    const std::string body = failure_body(status, message);
    std::string answer;
    append_status_line(answer, status);
    answer.append(service_.date.now());
    append_field(answer, "Content-Type", "application/json");
    append_field(answer, "Content-Length", std::to_string(body.size()));
    answer.append("Connection: close\r\n\r\n").append(body);
    const std::array<std::string_view, 1> parts{answer};
    co_await send(parts);
    co_await linger();
}

// Closing a socket with unread bytes resets it, and the reset may overtake our last words. So let the client
// go first, for a while.
Task<> Connection::linger() {
    stream_->shutdown_write();
    begin_reading(Reading::lingering, kLingerTime);
    const Defer end{[this] { end_reading(); }};
    std::vector<char> unused(kLingerRead);
    std::size_t total = 0;
    while (total < kMaxLingered) {
        const std::size_t got = co_await stream_->read_some(unused);
        if (got == 0) break;
        total += got;
    }
}

void Connection::begin_reading(Reading what, std::chrono::nanoseconds limit) {
    reading_ = what;
    read_deadline_.arm(limit);
}

void Connection::end_reading() noexcept {
    reading_ = Reading::nothing;
    read_deadline_.disarm();
}

Task<> Connection::lock_writing() {
    while (writing_) co_await write_turn_.wait();
    writing_ = true;
}

void Connection::unlock_writing() {
    writing_ = false;
    write_turn_.notify_one();
}

Task<> Connection::send(std::span<const std::string_view> parts) {
    write_deadline_.arm(service_.options.write_timeout);
    const Defer end{[this] { write_deadline_.disarm(); }};
    co_await stream_->write_parts(parts);
}

}  // namespace oyat::http
