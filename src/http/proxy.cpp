#include "http/proxy.hpp"

#include <array>
#include <memory>
#include <utility>

#include "base/error.hpp"
#include "http/body_reader.hpp"
#include "http/message_reader.hpp"
#include "http/prefixed_stream.hpp"
#include "http/proxy_fields.hpp"
#include "http/pump_buffer.hpp"
#include "http/serialize.hpp"
#include "http/splice.hpp"
#include "io/condition.hpp"
#include "io/race.hpp"

namespace oyat::http {
namespace {

// One exchange on its way through. Lives on the frame of proxy_exchange.
class Passage {
public:
    Passage(Exchange& exchange, std::unique_ptr<Stream> upstream, ProxyOptions options)
        : exchange_{exchange}, upstream_{std::move(upstream)}, options_{std::move(options)} {}

    Task<> run() {
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
            co_await pass_request_body(upstream_stopped_reading);
        } catch (const Error& e) {
            if (e.code() != Errc::unavailable) throw;
            if (!upstream_stopped_reading) co_return;
        }
        if (upstream_stopped_reading) {
            // It may still answer why. What is left of the body is not our concern any more.
            Condition never;
            co_await never.wait();
        }
        co_await exchange_.client_gone();
    }

    Task<> pass_request_body(bool& upstream_stopped_reading) {
        const auto send = [&](std::span<const std::string_view> parts) -> Task<> {
            upstream_stopped_reading = true;  // unless the write comes back
            co_await upstream_->write_parts(parts);
            upstream_stopped_reading = false;
        };
        const RequestHead& head = exchange_.request();
        const std::string head_bytes = upstream_request_head(head, options_);
        const std::array<std::string_view, 1> head_parts{head_bytes};
        co_await send(head_parts);
        if (!head.has_body) co_return;

        PumpBuffer buffer;
        for (;;) {
            const std::span<char> space = buffer.space();
            const std::size_t got = co_await exchange_.read_body(space);
            const std::string_view bytes{space.data(), got};
            buffer.filled(got);
            if (head.content_length) {
                if (got == 0) break;
                const std::array<std::string_view, 1> parts{bytes};
                co_await send(parts);
            } else {
                // An empty chunk is the last one.
                const std::string size = chunk_head(got);
                const std::array<std::string_view, 3> parts{size, bytes, "\r\n"};
                co_await send(parts);
                if (got == 0) break;
            }
        }
    }

    Task<> pass_answer() {
        const RequestHead& request = exchange_.request();
        ParsedResponse answer = co_await read_response_head(*upstream_, input_, request.method);
        const int status = answer.head.status;
        if (status == 101 && !(request.wants_upgrade && answer.head.fields.has("Upgrade"))) {
            throw Error{Errc::unavailable, Fault::upstream,
                        "the server changed the protocol without being asked"};
        }
        if (options_.on_head) options_.on_head();
        Fields fields = client_response_fields(request, answer.head, options_);
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
                const std::size_t got = co_await body.read(*upstream_, input_, space);
                if (got == 0) break;
                buffer.filled(got);
                co_await exchange_.write({space.data(), got});
            }
            co_await exchange_.finish();  // what the upstream still sends is dropped with its connection
        } catch (const Error& e) {
            if (e.code() == Errc::canceled) throw;
            exchange_.abort();  // the client must not take a part for the whole
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
        const std::unique_ptr<Stream> upstream = with_prefix(std::exchange(input_, {}), std::move(upstream_));
        co_await splice(*client, *upstream);
    }

    Exchange& exchange_;
    std::unique_ptr<Stream> upstream_;
    ProxyOptions options_;
    ByteBuffer input_;                     // from the upstream
    std::optional<std::string> upgraded_;  // the head that tells the client so
};

}  // namespace

Task<> proxy_exchange(Exchange& exchange, std::unique_ptr<Stream> upstream, ProxyOptions options) {
    Passage passage{exchange, std::move(upstream), std::move(options)};
    co_await passage.run();
}

}  // namespace oyat::http
