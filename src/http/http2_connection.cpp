#include "http/http2_connection.hpp"

#include <utility>
#include <vector>

#include "base/defer.hpp"
#include "base/log.hpp"
#include "http/failure_answer.hpp"
#include "http/http2_exchange.hpp"
#include "io/cancel.hpp"
#include "io/race.hpp"

namespace oyat::http {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t kIdleRead = 4 * 1024;  // an idle connection holds little
constexpr std::size_t kBusyRead = 16 * 1024;
constexpr std::size_t kWriteAtOnce = 64 * 1024;
constexpr std::size_t kFieldOverhead = 32;  // as RFC 9113, 6.5.2 counts a list of fields
// Bodies that nobody reads yet hold back the others of their connection only when they are this much.
constexpr std::size_t kMaxUnread = 4 * 1024 * 1024;
constexpr std::size_t kMaxLingered = 1024 * 1024;
constexpr Millis kLingerTime = 5s;

}  // namespace

Http2Connection::Http2Connection(Executor executor, Accepted accepted, Service& service)
    : executor_{std::move(executor)},
      stream_{std::move(accepted.stream)},
      peer_{std::move(accepted.peer)},
      tls_{accepted.tls},
      service_{service},
      session_{*this, service.options.max_streams},
      head_deadline_{executor_,
                     [this] {
                         session_.end(Http2Reason::enhance_your_calm);
                         wake();
                     }},
      idle_deadline_{executor_, [this] { end_soon(); }},
      write_deadline_{executor_, [this] { stream_->close(); }},
      handlers_{executor_, [](const std::exception_ptr&) {
                    // A request whose client is gone: it has been logged where that matters.
                }} {}

Http2Connection::~Http2Connection() = default;

Task<> Http2Connection::serve() {
    std::exception_ptr error;
    std::size_t first = 0;
    head_deadline_.arm(service_.options.head_timeout);
    idle_deadline_.arm(service_.options.idle_timeout);
    try {
        first = co_await race(read_all(), write_all());
    } catch (...) {
        error = std::current_exception();
    }
    head_deadline_.disarm();
    idle_deadline_.disarm();
    for (auto& [id, exchange] : exchanges_) exchange->stream_closed();
    drained_.notify_all();
    try {
        if (!error && first == 1) co_await linger();
        stream_->close();
        // As with HTTP/1.1, work goes on without its client until it notices.
        if (!is_canceled(error)) co_await handlers_.wait_idle();
    } catch (...) {
        error = std::current_exception();
    }
    stream_->close();
    co_await handlers_.close();
    if (is_canceled(error)) std::rethrow_exception(error);
}

Task<> Http2Connection::read_all() {
    std::vector<char> buffer;
    for (;;) {
        buffer.resize(exchanges_.empty() ? kIdleRead : kBusyRead);
        const std::size_t got = co_await stream_->read_some(buffer);
        if (got == 0) co_return;
        if (!session_.receive({buffer.data(), got})) {
            frame_refused("not HTTP/2, or more of it than any client has reason to send");
            co_return;
        }
        wake();
        if (!session_.listens()) break;
    }
    Condition never;  // the farewell is still to be written
    co_await never.wait();
}

Task<> Http2Connection::write_all() {
    std::string out;
    for (;;) {
        out.clear();
        session_.send_into(out, kWriteAtOnce);
        if (out.empty()) {
            drained_.notify_all();
            if (session_.over()) co_return;
            out.shrink_to_fit();
            co_await work_.wait();
            continue;
        }
        write_deadline_.arm(service_.options.write_timeout);
        const Defer end{[this] { write_deadline_.disarm(); }};
        co_await stream_->write_all(out);
    }
}

// Closing with unread bytes resets the connection, and the reset may overtake our reason.
Task<> Http2Connection::linger() {
    stream_->shutdown_write();
    Timer enough{executor_, [this] { stream_->close(); }};
    enough.arm(kLingerTime);
    std::vector<char> unused(kBusyRead);
    try {
        for (std::size_t total = 0; total < kMaxLingered;) {
            const std::size_t got = co_await stream_->read_some(unused);
            if (got == 0) break;
            total += got;
        }
    } catch (const Error& e) {
        if (e.code() == Errc::canceled) throw;
    }
}

void Http2Connection::end_soon() {
    ending_ = true;
    if (exchanges_.empty()) {
        session_.end(Http2Reason::no_error);
    } else {
        session_.take_no_more_streams();
    }
    wake();
}

void Http2Connection::client_greeted() {
    head_deadline_.disarm();
}

bool Http2Connection::head_begins() {
    // Streams that were reset are none to the library any more, but their handlers still work for nobody.
    if (exchanges_.size() >= service_.options.max_streams) return false;
    head_.clear();
    head_bytes_ = 0;
    head_too_long_ = false;
    head_deadline_.arm(service_.options.head_timeout);
    return true;
}

void Http2Connection::head_field(std::string_view name, std::string_view value) {
    head_bytes_ += name.size() + value.size() + kFieldOverhead;
    head_too_long_ |= head_bytes_ > service_.options.max_head_bytes || head_.size() >= kMaxFieldCount;
    if (!head_too_long_) head_.emplace_back(name, value);
}

void Http2Connection::head_complete(std::int32_t stream, bool ends_here) {
    head_deadline_.disarm();
    idle_deadline_.disarm();
    Result<ParsedRequest> request = parse_http2_request(std::exchange(head_, {}), ends_here);
    std::optional<Refusal> refusal;
    if (head_too_long_) {
        refusal = Refusal{.status = 431, .message = "the request's head is too long"};
    } else if (!request) {
        refusal = Refusal{.status = 400, .message = request.error().message()};
    }
    if (refusal && service_.on_refused) service_.on_refused(refusal->message);
    ParsedRequest parsed = refusal ? ParsedRequest{} : *std::move(request);
    parsed.head.peer = peer_;
    parsed.head.tls = tls_;
    const auto [at, made] =
        exchanges_.emplace(stream, std::make_unique<Http2Exchange>(*this, stream, std::move(parsed)));
    if (ends_here) at->second->body_complete();
    handlers_.spawn(answer(stream, std::move(refusal)));
}

void Http2Connection::frame_refused(std::string_view why) {
    if (service_.on_refused) service_.on_refused(why);
}

void Http2Connection::body_arrived(std::int32_t stream, std::string_view bytes) {
    Http2Exchange* exchange = find(stream);
    if (exchange != nullptr) {
        exchange->body_arrived(bytes);
        unread_ += bytes.size();
    }
    owed_ += bytes.size();
    give_back(0);
}

void Http2Connection::body_complete(std::int32_t stream) {
    if (Http2Exchange* exchange = find(stream)) exchange->body_complete();
}

void Http2Connection::body_read(std::int32_t stream, std::size_t bytes) {
    session_.let_stream_send(stream, bytes);
    give_back(bytes);
    wake();
}

void Http2Connection::give_back(std::size_t bytes) {
    unread_ -= bytes;
    if (unread_ > kMaxUnread || owed_ == 0) return;
    session_.let_connection_send(std::exchange(owed_, 0));
}

BodyPiece Http2Connection::body_wanted(std::int32_t stream, std::span<char> into) {
    Http2Exchange* exchange = find(stream);
    return exchange != nullptr ? exchange->next_piece(into) : BodyPiece{.state = BodyPiece::State::broken};
}

void Http2Connection::stream_closed(std::int32_t stream) {
    if (Http2Exchange* exchange = find(stream)) exchange->stream_closed();
}

Http2Exchange* Http2Connection::find(std::int32_t stream) {
    const auto found = exchanges_.find(stream);
    return found != exchanges_.end() ? found->second.get() : nullptr;
}

Task<> Http2Connection::answer(std::int32_t stream, std::optional<Refusal> refusal) {
    Http2Exchange& exchange = *exchanges_.at(stream);
    const Defer leaving{[this, stream] { forget(stream); }};
    std::exception_ptr error;
    try {
        if (refusal) {
            co_await exchange.respond(refusal->status, {{"Content-Type", "application/json"}},
                                      failure_body(refusal->status, refusal->message));
        } else {
            co_await service_.handler(exchange);
        }
    } catch (...) {
        error = std::current_exception();
    }
    co_await end_answer(exchange, error);
}

Task<> Http2Connection::end_answer(Http2Exchange& exchange, std::exception_ptr error) {
    using Phase = Http2Exchange::Phase;
    if (is_canceled(error)) {
        exchange.abort();
        co_return;
    }
    if (exchange.phase() == Phase::fresh && exchange.stream_open()) {
        const int status = exchange.body_failure() != 0 ? exchange.body_failure() : 500;
        const std::string message = error ? public_message(error) : "no handler answered";
        if (status == 500) log::error("request failed", {{"error", message}});
        co_await exchange.respond(status, {{"Content-Type", "application/json"}},
                                  failure_body(status, message));
    } else if (exchange.phase() == Phase::started) {
        if (error && exchange.stream_open()) {
            log::warn("an answer broke off", {{"error", public_message(error)}});
        }
        exchange.abort();
    }
    // The answer stands; what the client still sends of its request is of no use (RFC 9113, 8.1).
    if (exchange.phase() == Phase::finished && !exchange.body_ended() && exchange.stream_open()) {
        // A reset drops a head that still waits to be sent, and this answer may be nothing but that.
        wake();
        if (exchange.is_head_only()) co_await drained_.wait();
        if (!exchange.stream_open()) co_return;
        session_.reset(exchange.stream(), Http2Reason::no_error);
        wake();
    }
}

void Http2Connection::forget(std::int32_t stream) {
    const auto found = exchanges_.find(stream);
    give_back(found->second->unread());
    exchanges_.erase(found);
    if (exchanges_.empty()) {
        if (ending_) {
            session_.end(Http2Reason::no_error);
        } else {
            idle_deadline_.arm(service_.options.idle_timeout);
        }
    }
    wake();
}

}  // namespace oyat::http
