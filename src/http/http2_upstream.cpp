#include "http/http2_upstream.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "http/grammar.hpp"
#include "http/http2_client_session.hpp"
#include "http/pump_buffer.hpp"
#include "http/trailers.hpp"
#include "io/condition.hpp"
#include "io/race.hpp"
#include "io/timer.hpp"

namespace oyat::http {
namespace {

constexpr std::size_t kRead = 16 * 1024;
constexpr std::size_t kWriteAtOnce = 64 * 1024;
constexpr std::size_t kMaxDigits = 18;

// One exchange on its way through. Lives on the frame of pass_http2_exchange.
class Passage {
public:
    Passage(Exchange& exchange, UpstreamConnection& upstream, const Http2Fields& head, Passing passing)
        : exchange_{exchange},
          stream_{*upstream.stream},
          passing_{std::move(passing)},
          session_{head, has_body() ? [this](std::span<char> into) { return next_piece(into); }
                                    : Http2ClientSession::NextPiece{}},
          no_answer_{exchange.executor(), [this] {
                         too_late_ = true;
                         changed_.notify_all();
                     }} {}

    Task<> run() {
        const std::size_t first = co_await race(send_body(), give_answer(), read_all(), write_all());
        if (first == 0) exchange_.abort();  // the client went away
    }

private:
    [[nodiscard]] bool has_body() const {
        return passing_.body ? !passing_.body->empty() : exchange_.request().has_body;
    }

    // Returns only when the client is gone.
    Task<> send_body() {
        try {
            if (passing_.body) {
                co_await offer(*passing_.body);
            } else if (exchange_.request().has_body) {
                co_await pass_body();
            }
        } catch (const Error& e) {
            if (e.code() != Errc::unavailable) throw;
            co_return;
        }
        body_ended_ = true;
        session_.more_body();
        work_.notify_all();
        if (passing_.answer_limit.count() > 0 && !session_.head()) no_answer_.arm(passing_.answer_limit);
        co_await exchange_.client_gone();
    }

    Task<> pass_body() {
        const std::string began = std::exchange(passing_.body_began, {});
        co_await offer(began);
        PumpBuffer buffer;
        for (;;) {
            const std::span<char> space = buffer.space();
            const std::size_t got = co_await exchange_.read_body(space);
            if (got == 0) co_return;
            buffer.filled(got);
            co_await offer({space.data(), got});
        }
    }

    // Returns when all of it is on its way: the server's windows may let it wait.
    Task<> offer(std::string_view bytes) {
        if (bytes.empty()) co_return;
        if (!passing_.body && passing_.see_body) passing_.see_body(bytes);
        offered_ = bytes;
        session_.more_body();
        work_.notify_all();
        // A server that has answered may not want the rest; what it said is passed on meanwhile.
        while (!offered_.empty()) co_await taken_.wait();
    }

    BodyPiece next_piece(std::span<char> into) {
        const std::size_t size = std::min(into.size(), offered_.size());
        if (size > 0) std::memcpy(into.data(), offered_.data(), size);
        offered_.remove_prefix(size);
        if (offered_.empty()) taken_.notify_all();
        const bool last = offered_.empty() && body_ended_;
        return {.size = size,
                .state = last       ? BodyPiece::State::last
                         : size > 0 ? BodyPiece::State::more
                                    : BodyPiece::State::not_yet};
    }

    Task<> read_all() {
        std::vector<char> buffer(kRead);
        try {
            for (;;) {
                const std::size_t got = co_await stream_.read_some(buffer);
                if (got == 0 || !session_.receive({buffer.data(), got})) break;
                changed_.notify_all();
                work_.notify_all();
            }
        } catch (const Error& e) {
            if (e.code() == Errc::canceled) throw;
        }
        co_await lose();
    }

    Task<> write_all() {
        std::string out;
        try {
            for (;;) {
                out.clear();
                session_.send_into(out, kWriteAtOnce);
                // What the library refuses of an answer ends it here, with a reset.
                if (session_.closed()) changed_.notify_all();
                if (out.empty()) {
                    if (session_.given_up()) break;
                    co_await work_.wait();
                } else {
                    co_await stream_.write_all(out);
                }
            }
        } catch (const Error& e) {
            if (e.code() == Errc::canceled) throw;
        }
        co_await lose();
    }

    // Nothing more will come. Whoever gives the answer says what that means for it.
    Task<> lose() {
        lost_ = true;
        changed_.notify_all();
        Condition never;
        co_await never.wait();
    }

    [[nodiscard]] bool over() const { return session_.complete() || session_.closed() || lost_; }

    Task<> give_answer() {
        while (!session_.head() && !over() && !too_late_) co_await changed_.wait();
        no_answer_.disarm();
        if (!session_.head()) {
            if (too_late_) throw Error{Errc::deadline, Fault::upstream, "the server gave no answer in time"};
            throw Error{Errc::unavailable, Fault::upstream, "the server ended HTTP/2 without an answer"};
        }
        if (passing_.on_head) passing_.on_head();
        co_await start();
        try {
            co_await give_body();
        } catch (const Error& e) {
            if (e.code() == Errc::canceled) throw;
            exchange_.abort();
        }
    }

    Task<> start() {
        const Http2ClientSession::Head& said = *session_.head();
        const ResponseHead head{
            .status = said.status,
            .fields = said.fields,
            .content_length = parse_decimal(said.fields.get("content-length"), kMaxDigits)};
        // An answer that ends with its head must do so for the program, too: gRPC reads its status there.
        const std::optional<std::uint64_t> length =
            said.ends_here ? std::optional<std::uint64_t>{0} : head.content_length;
        const bool to_head = exchange_.request().method == "HEAD";
        co_await exchange_.start(said.status, passing_.answer_fields(head),
                                 to_head ? head.content_length : length);
    }

    Task<> give_body() {
        AnswerFilter* const filter = passing_.answer_filter;
        std::string filtered;
        for (;;) {
            while (!session_.has_body() && !over()) co_await changed_.wait();
            if (!session_.has_body()) break;
            const std::string piece = session_.take_body();
            work_.notify_all();  // the window has opened
            if (filter == nullptr) {
                co_await exchange_.write(piece);
                continue;
            }
            filtered.clear();
            filter->feed(piece, filtered);
            co_await exchange_.write(filtered);
        }
        if (!session_.complete()) co_return exchange_.abort();  // a part must not be taken for the whole
        filtered.clear();
        if (filter != nullptr) filter->finish(filtered);
        if (auto* const taker = dynamic_cast<TakesTrailers*>(&exchange_)) {
            const ResponseHead behind{.status = 0, .fields = session_.trailers(), .content_length = {}};
            taker->set_trailers(passing_.answer_fields(behind));
        }
        co_await exchange_.finish_with(filtered);
    }

    Exchange& exchange_;
    Stream& stream_;
    Passing passing_;

    std::string_view offered_;  // of the request's body: what offer() waits to see taken
    bool body_ended_ = false;
    Http2ClientSession session_;
    bool lost_ = false;
    bool too_late_ = false;
    Timer no_answer_;
    Condition work_;     // there may be something to send
    Condition taken_;    // of the request's body
    Condition changed_;  // something came
};

}  // namespace

Task<> pass_http2_exchange(Exchange& exchange, UpstreamConnection& upstream, Http2Fields head,
                           Passing passing) {
    upstream.reusable = false;
    ++upstream.exchanges;
    Passage passage{exchange, upstream, head, std::move(passing)};
    co_await passage.run();
}

}  // namespace oyat::http
