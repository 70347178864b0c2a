#include "http/served_exchange.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/defer.hpp"
#include "http/prefixed_stream.hpp"
#include "http/serialize.hpp"
#include "http/whole_body.hpp"
#include "io/post.hpp"

namespace oyat::http {
namespace {

// What a client may send ahead of an answer before we stop looking whether it is still there.
constexpr std::size_t kMaxPipelined = 16 * 1024;
constexpr std::size_t kPeekRead = 4096;

// A body of which more than this is unread is not worth waiting for; the connection ends instead.
constexpr std::uint64_t kMaxDrained = 256 * 1024;

}  // namespace

ServedExchange::ServedExchange(Connection& connection, ParsedRequest request)
    : connection_{connection},
      request_{std::move(request)},
      body_{request_.body, request_.head.content_length},
      body_timeout_{connection.service_.options.body_timeout} {
    // Whoever asked for an upgrade that nobody granted may already be talking another protocol.
    keep_alive_ = request_.keep_alive && !request_.head.wants_upgrade;
}

ServedExchange::~ServedExchange() {
    if (self_) *self_ = nullptr;
}

Task<std::size_t> ServedExchange::read_body(std::span<char> into) {
    if (phase_ == Phase::aborted || phase_ == Phase::taken || body_failure_ != 0) {
        throw Error{Errc::failed_precondition, "the request's body can't be read any more"};
    }
    if (body_.done()) co_return 0;
    if (request_.expects_continue && !continue_sent_ && phase_ == Phase::fresh) {
        continue_sent_ = true;
        constexpr std::array<std::string_view, 1> kContinue{"HTTP/1.1 100 Continue\r\n\r\n"};
        co_await connection_.lock_writing();
        const Defer unlock{[this] { connection_.unlock_writing(); }};
        co_await connection_.send(kContinue);
    }
    connection_.begin_reading(Connection::Reading::body, body_timeout_);
    const Defer end{[this] { connection_.end_reading(); }};
    try {
        co_return co_await body_.read(*connection_.stream_, connection_.input_, into);
    } catch (const Error& e) {
        if (connection_.timed_out_) {
            body_failure_ = 408;
            throw Error{Errc::deadline, Fault::client, "the request's body came too slowly"};
        }
        if (e.code() != Errc::canceled) body_failure_ = 400;
        throw;
    }
}

Task<std::string> ServedExchange::read_whole_body(std::size_t limit) {
    return whole_body(*this, limit);
}

// A handler may learn too late that it has answered, or that the client went away: an error, not a broken
// promise.
void ServedExchange::require_fresh() const {
    if (phase_ != Phase::fresh) throw Error{Errc::failed_precondition, "the request has been answered"};
}

bool ServedExchange::must_close() const {
    // A client that was never told to continue may or may not send its body: nobody can know what comes next.
    const bool body_in_doubt = request_.expects_continue && !continue_sent_ && !body_.done();
    return !keep_alive_ || connection_.ending_ || body_failure_ != 0 || body_in_doubt ||
           body_.known_left() > kMaxDrained;
}

void ServedExchange::begin_answer(int status, const Fields& fields, std::optional<std::uint64_t> length) {
    require_fresh();
    const bool bodyless_status = status < 200 || status == 204 || status == 304;
    const bool no_body = bodyless_status || request_.head.method == "HEAD";
    framing_ = no_body             ? Framing::no_body
               : length            ? Framing::sized
               : request_.http_1_0 ? Framing::until_close
                                   : Framing::chunked;
    left_ = length.value_or(0);
    if (framing_ == Framing::until_close || must_close()) keep_alive_ = false;

    std::string head;
    append_status_line(head, status);
    for (const auto& [name, value] : fields) {
        // Where the body ends and whether the connection stays is said below, by the one who knows.
        if (!is_connection_field(fields, name)) append_field(head, name, value);
    }
    if (!fields.has("Date")) head.append(connection_.service_.date.now());
    if (length && !bodyless_status) append_field(head, "Content-Length", std::to_string(*length));
    if (framing_ == Framing::chunked) head.append("Transfer-Encoding: chunked\r\n");
    if (!keep_alive_) head.append("Connection: close\r\n");
    head.append("\r\n");
    head_ = std::move(head);
    phase_ = Phase::started;
}

Task<> ServedExchange::respond(int status, Fields fields, std::string body) {
    begin_answer(status, fields, body.size());
    co_await connection_.lock_writing();
    const Defer unlock{[this] { connection_.unlock_writing(); }};
    const std::string head = std::exchange(head_, {});
    const std::array<std::string_view, 2> parts{head, framing_ == Framing::sized ? body : std::string_view{}};
    co_await connection_.send(parts);
    phase_ = Phase::finished;
}

Task<> ServedExchange::start(int status, Fields fields, std::optional<std::uint64_t> length) {
    begin_answer(status, fields, length);
    send_head_later();
    co_return;
}

// The head goes out with the first bytes of the body if they come at once, and by itself if they don't: one
// system call less for the usual case, and a client that waits for the head is not left waiting.
void ServedExchange::send_head_later() {
    self_ = std::make_shared<ServedExchange*>(this);
    post(connection_.executor_, [self = self_] {
        ServedExchange* exchange = *self;
        if (exchange == nullptr || exchange->head_.empty() || exchange->phase_ != Phase::started) return;
        exchange->connection_.helpers_.spawn(send_head_now(self, exchange->connection_));
    });
}

// The exchange may be over before this starts to run, or gets its turn to write; the connection is not.
Task<> ServedExchange::send_head_now(std::shared_ptr<ServedExchange*> self, Connection& connection) {
    co_await connection.lock_writing();
    const Defer unlock{[&connection] { connection.unlock_writing(); }};
    ServedExchange* exchange = *self;
    if (exchange == nullptr || exchange->head_.empty() || exchange->phase_ != Phase::started) co_return;
    const std::string head = std::exchange(exchange->head_, {});
    const std::array<std::string_view, 1> parts{head};
    co_await connection.send(parts);
}

Task<> ServedExchange::write(std::string_view bytes) {
    if (phase_ != Phase::started) throw Error{Errc::failed_precondition, "no answer is being written"};
    if (framing_ == Framing::sized) {
        if (bytes.size() > left_) throw Error{Errc::internal, "the answer is longer than it was announced"};
        left_ -= bytes.size();
    }
    co_await connection_.lock_writing();
    const Defer unlock{[this] { connection_.unlock_writing(); }};
    if (phase_ != Phase::started) throw Error{Errc::unavailable, "the answer was cut"};
    if (framing_ == Framing::no_body) bytes = {};
    const std::string head = std::exchange(head_, {});
    if (framing_ == Framing::chunked && !bytes.empty()) {
        const std::string size = chunk_head(bytes.size());
        const std::array<std::string_view, 4> parts{head, size, bytes, "\r\n"};
        co_await connection_.send(parts);
    } else if (!head.empty() || !bytes.empty()) {
        const std::array<std::string_view, 2> parts{head, bytes};
        co_await connection_.send(parts);
    }
}

Task<> ServedExchange::finish() {
    if (phase_ != Phase::started) throw Error{Errc::failed_precondition, "no answer is being written"};
    if (framing_ == Framing::sized && left_ > 0) {
        abort();
        throw Error{Errc::internal, "the answer is shorter than it was announced"};
    }
    co_await connection_.lock_writing();
    const Defer unlock{[this] { connection_.unlock_writing(); }};
    if (phase_ != Phase::started) throw Error{Errc::unavailable, "the answer was cut"};
    const std::string head = std::exchange(head_, {});
    const std::string_view last = framing_ == Framing::chunked ? "0\r\n\r\n" : "";
    if (!head.empty() || !last.empty()) {
        const std::array<std::string_view, 2> parts{head, last};
        co_await connection_.send(parts);
    }
    phase_ = Phase::finished;
}

Task<> ServedExchange::finish_with(std::string_view last) {
    if (framing_ != Framing::chunked || last.empty()) {
        co_await write(last);
        co_await finish();
        co_return;
    }
    if (phase_ != Phase::started) throw Error{Errc::failed_precondition, "no answer is being written"};
    co_await connection_.lock_writing();
    const Defer unlock{[this] { connection_.unlock_writing(); }};
    if (phase_ != Phase::started) throw Error{Errc::unavailable, "the answer was cut"};
    const std::string head = std::exchange(head_, {});
    const std::string size = chunk_head(last.size());
    const std::array<std::string_view, 4> parts{head, size, last, "\r\n0\r\n\r\n"};
    co_await connection_.send(parts);
    phase_ = Phase::finished;
}

void ServedExchange::abort() {
    if (phase_ == Phase::taken || phase_ == Phase::aborted) return;
    if (framing_ == Framing::until_close && phase_ == Phase::started) {
        // An orderly close would look like the end of the body.
        const linger reset{.l_onoff = 1, .l_linger = 0};
        (void)::setsockopt(connection_.stream_->native_fd(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    }
    phase_ = Phase::aborted;
    connection_.stream_->close();
}

Task<> ServedExchange::client_gone() {
    if (!body_.done() || phase_ == Phase::taken) {
        throw Error{Errc::failed_precondition, "the request's body has not been read to its end"};
    }
    try {
        ByteBuffer& input = connection_.input_;
        while (input.size() < kMaxPipelined) {
            const std::size_t got = co_await connection_.stream_->read_some(input.room(kPeekRead));
            if (got == 0) co_return;
            input.commit(got);
        }
    } catch (const Error& e) {
        if (e.code() != Errc::unavailable) throw;
        co_return;
    }
    Condition never;
    co_await never.wait();
}

Task<std::unique_ptr<Stream>> ServedExchange::take_over(std::string head_bytes) {
    require_fresh();
    co_await connection_.lock_writing();
    const Defer unlock{[this] { connection_.unlock_writing(); }};
    phase_ = Phase::taken;
    const std::array<std::string_view, 1> parts{head_bytes};
    if (!head_bytes.empty()) co_await connection_.send(parts);
    co_return with_prefix(std::exchange(connection_.input_, {}), std::move(connection_.stream_));
}

}  // namespace oyat::http
