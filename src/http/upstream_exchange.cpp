#include "http/upstream_exchange.hpp"

#include <array>
#include <optional>
#include <span>
#include <utility>

#include "base/error.hpp"
#include "http/body_reader.hpp"
#include "http/message_reader.hpp"
#include "http/prefixed_stream.hpp"
#include "http/pump_buffer.hpp"
#include "http/serialize.hpp"
#include "http/splice.hpp"
#include "io/condition.hpp"
#include "io/race.hpp"
#include "io/timer.hpp"

namespace oyat::http {
namespace {

// One exchange on its way through. Lives on the frame of pass_exchange.
class Passage {
public:
    Passage(Exchange& exchange, UpstreamConnection& upstream, Passing passing)
        : exchange_{exchange},
          upstream_{upstream},
          passing_{std::move(passing)},
          no_answer_{exchange.executor(), [this] {
                         too_late_ = true;
                         upstream_.stream->shutdown_read();
                     }} {}

    Task<> run() {
        upstream_.reusable = false;  // unless all comes to a good end
        ++upstream_.exchanges;
        // The answer may begin before the request has ended, and either may be long: both at once.
        const std::size_t first = co_await race(send_request(), pass_answer());
        if (first == 0) {
            exchange_.abort();  // the client went away
        } else if (upgraded_) {
            co_await pass_upgraded();
        }
    }

private:
    // Returns only when the client is gone.
    Task<> send_request() {
        bool upstream_stopped_reading = false;
        try {
            co_await pass_request(upstream_stopped_reading);
        } catch (const Error& e) {
            if (e.code() != Errc::unavailable) throw;
            if (!upstream_stopped_reading) co_return;
        }
        if (passing_.answer_limit.count() > 0 && !answer_began_) no_answer_.arm(passing_.answer_limit);
        if (upstream_stopped_reading) {
            // It may still answer why. What is left of the body is not our concern any more.
            Condition never;
            co_await never.wait();
        }
        request_sent_ = true;
        co_await exchange_.client_gone();
    }

    Task<> send(std::span<const std::string_view> parts, bool& upstream_stopped_reading) {
        upstream_stopped_reading = true;  // unless the write comes back
        co_await upstream_.stream->write_parts(parts);
        upstream_stopped_reading = false;
    }

    Task<> pass_request(bool& upstream_stopped_reading) {
        const std::array<std::string_view, 2> first{
            passing_.head, passing_.body ? std::string_view{*passing_.body} : std::string_view{}};
        co_await send(first, upstream_stopped_reading);
        const RequestHead& head = exchange_.request();
        if (!head.has_body || passing_.body) co_return;

        if (const std::string began = std::exchange(passing_.body_began, {}); !began.empty()) {
            co_await send_piece(began, upstream_stopped_reading);
        }
        PumpBuffer buffer;
        for (;;) {
            const std::span<char> space = buffer.space();
            const std::size_t got = co_await exchange_.read_body(space);
            buffer.filled(got);
            co_await send_piece({space.data(), got}, upstream_stopped_reading);
            if (got == 0) break;
        }
    }

    // An empty piece is the end of the body.
    Task<> send_piece(std::string_view bytes, bool& upstream_stopped_reading) {
        if (!bytes.empty() && passing_.see_body) passing_.see_body(bytes);
        if (exchange_.request().content_length) {
            if (bytes.empty()) co_return;
            const std::array<std::string_view, 1> parts{bytes};
            co_await send(parts, upstream_stopped_reading);
        } else {
            const std::string size = chunk_head(bytes.size());
            const std::array<std::string_view, 3> parts{size, bytes, "\r\n"};
            co_await send(parts, upstream_stopped_reading);
        }
    }

    Task<ParsedResponse> read_head() {
        try {
            co_return co_await read_response_head(*upstream_.stream, upstream_.input,
                                                  exchange_.request().method);
        } catch (const Error& e) {
            if (!too_late_ || e.code() == Errc::canceled) throw;
        }
        throw Error{Errc::deadline, Fault::upstream, "the server gave no answer in time"};
    }

    Task<> pass_answer() {
        const RequestHead& request = exchange_.request();
        ParsedResponse answer = co_await read_head();
        answer_began_ = true;
        no_answer_.disarm();
        const int status = answer.head.status;
        if (status == 101 && !(request.wants_upgrade && answer.head.fields.has("Upgrade"))) {
            throw Error{Errc::unavailable, Fault::upstream,
                        "the server changed the protocol without being asked"};
        }
        if (passing_.on_head) passing_.on_head();
        Fields fields = passing_.answer_fields(answer.head);
        if (status == 101) {
            upgraded_ = upgrade_head(fields, answer.head.fields.get("Upgrade"));
            co_return;
        }
        co_await exchange_.start(status, std::move(fields), answer.head.content_length);
        BodyReader body{answer.body, answer.head.content_length};
        PumpBuffer buffer;
        try {
            for (;;) {
                const std::span<char> space = buffer.space();
                const std::size_t got = co_await body.read(*upstream_.stream, upstream_.input, space);
                if (got == 0) break;
                buffer.filled(got);
                co_await give({space.data(), got});
            }
            std::string last;
            if (passing_.answer_filter != nullptr) passing_.answer_filter->finish(last);
            co_await exchange_.finish_with(last);
        } catch (const Error& e) {
            if (e.code() == Errc::canceled) throw;
            exchange_.abort();  // the client must not take a part for the whole
            co_return;
        }
        // Bytes behind the answer belong to no request (threats C-06): they end with the connection.
        upstream_.reusable = request_sent_ && answer.keep_alive && upstream_.input.empty();
        if (upstream_.reusable) upstream_.input.shrink();
    }

    Task<> give(std::string_view bytes) {
        if (passing_.answer_filter == nullptr) {
            co_await exchange_.write(bytes);
        } else {
            filtered_.clear();
            passing_.answer_filter->feed(bytes, filtered_);
            if (!filtered_.empty()) co_await exchange_.write(filtered_);
        }
    }

    static std::string upgrade_head(const Fields& fields, std::string_view protocol) {
        std::string head;
        append_status_line(head, 101);
        for (const auto& [name, value] : fields) append_field(head, name, value);
        append_field(head, "Connection", "Upgrade");
        append_field(head, "Upgrade", protocol);
        return head.append("\r\n");
    }

    Task<> pass_upgraded() {
        const std::unique_ptr<Stream> client = co_await exchange_.take_over(*std::move(upgraded_));
        const std::unique_ptr<Stream> upstream =
            with_prefix(std::exchange(upstream_.input, {}), std::move(upstream_.stream));
        co_await splice(*client, *upstream);
    }

    Exchange& exchange_;
    UpstreamConnection& upstream_;
    Passing passing_;
    Timer no_answer_;
    bool too_late_ = false;
    bool request_sent_ = false;
    bool answer_began_ = false;
    std::string filtered_;
    std::optional<std::string> upgraded_;  // the head that tells the client so
};

}  // namespace

Task<> pass_exchange(Exchange& exchange, UpstreamConnection& upstream, Passing passing) {
    Passage passage{exchange, upstream, std::move(passing)};
    co_await passage.run();
}

}  // namespace oyat::http
