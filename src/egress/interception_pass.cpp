#include "egress/read_request.hpp"
#include "http/http2_upstream.hpp"
#include "http/trailers.hpp"

// A request that was allowed, on its way to the server, and its answer.
namespace oyat::egress {
namespace {

using http::Exchange;
using http::OutgoingRequest;
using http::RequestHead;

// Sending it twice does what sending it once does (RFC 9110, 9.2.2), and there is nothing to send again.
bool may_repeat(const RequestHead& head) {
    return !head.has_body && (head.method == "GET" || head.method == "HEAD" || head.method == "OPTIONS" ||
                              head.method == "PUT" || head.method == "DELETE");
}

bool is_upstream_failure(const Error& error) {
    return (error.code() == Errc::unavailable || error.code() == Errc::deadline) &&
           error.fault() != Fault::client;
}

http::Fields filtered(const http::Fields& fields, http::AnswerFilter& filter) {
    http::Fields made;
    for (const auto& [name, value] : fields) made.add(name, filter.field(value));
    return made;
}

// A program that speaks HTTP/2 and asks for trailers, as gRPC does, may need what HTTP/1.1 has not.
http::TlsProtocols offer_for(const Exchange& exchange) {
    const bool needs = dynamic_cast<const http::TakesTrailers*>(&exchange) != nullptr &&
                       exchange.request().fields.has_token("TE", "trailers");
    return needs ? http::TlsProtocols::http1_and_http2 : http::TlsProtocols::http1;
}

}  // namespace

Task<> Interception::pass(Exchange& exchange, UnderWay& under_way) {
    const RequestHead& head = exchange.request();
    OutgoingRequest request{.host = under_way.host,
                            .port = attempt_.port,
                            .tls = around_.tls.has_value(),
                            .method = head.method,
                            .target = head.target,
                            .fields = message_fields(head.fields),
                            .body = {}};
    if (around_.transform != nullptr) {
        if (const std::size_t limit = around_.transform->wants_body(request); limit > 0 && head.has_body) {
            request.body = std::exchange(under_way.began, {}) + co_await exchange.read_whole_body(limit);
        }
        if (Result<void> applied = co_await around_.transform->apply(request); !applied) {
            co_return co_await refuse(exchange, 403, "refused: " + applied.error().message());
        }
        carried_.insert(request.carries.begin(), request.carries.end());
    }
    std::optional<Error> failure;
    try {
        co_await pass_on(exchange, request, std::exchange(under_way.began, {}));
        co_return;
    } catch (const Error& error) {
        if (exchange.started() || (error.code() != Errc::denied && !is_upstream_failure(error))) throw;
        failure = error;
    }
    if (failure->code() == Errc::denied) {
        co_return co_await refuse(exchange, 403, "refused: " + failure->message());
    }
    boost::json::object failed = fields(head, under_way.host);
    failed["why"] = failure->message();
    around_.report.repeated("upstream.failed", std::move(failed), Fault::upstream);
    co_await refuse(exchange, 502, "failed: " + failure->message());
}

Task<> Interception::pass_on(Exchange& exchange, const OutgoingRequest& request, std::string began) {
    const RequestHead& head = exchange.request();
    for (;;) {
        const OwnUpstreams::Lease upstream = co_await upstreams_.take(offer_for(exchange));
        const bool may_have_died = upstream->exchanges > 0;
        const std::shared_ptr<http::BodyWatch> watch =
            around_.transform != nullptr && !request.body ? around_.transform->watch(request) : nullptr;
        http::Passing passing;
        passing.head = outgoing_head(request, head);
        passing.body = request.body;
        passing.body_began = std::exchange(began, {});  // what has a body is never sent twice
        if (watch) {
            passing.see_body = [watch](std::string_view piece) {
                if (Result<void> seen = watch->pass(piece); !seen) throw Error{seen.error()};
            };
        }
        const std::unique_ptr<http::AnswerFilter> filter =
            around_.transform != nullptr ? around_.transform->filter(request) : nullptr;
        passing.answer_filter = filter.get();
        passing.answer_fields = [&filter](const http::ResponseHead& answer) {
            return filter ? filtered(message_fields(answer.fields), *filter) : message_fields(answer.fields);
        };
        passing.answer_limit = limits_.answer;
        try {
            if (upstream->http2) {
                exchange.allow_silence(limits_.idle);  // calls with streams both ways may rest
                co_await http::pass_http2_exchange(exchange, *upstream, outgoing_fields(request, head),
                                                   std::move(passing));
            } else {
                co_await http::pass_exchange(exchange, *upstream, std::move(passing));
            }
            co_return;
        } catch (const Error& error) {
            if (error.code() != Errc::unavailable || !may_have_died || !may_repeat(head)) throw;
        }
    }
}

}  // namespace oyat::egress
