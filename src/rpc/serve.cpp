#include "rpc/serve.hpp"

#include <boost/json/object.hpp>

#include "base/log.hpp"
#include "base/throwing.hpp"
#include "http/error_status.hpp"
#include "io/cancel.hpp"
#include "io/race.hpp"
#include "io/timer.hpp"
#include "rpc/code.hpp"
#include "rpc/error_body.hpp"

namespace oyat::rpc {
namespace {

namespace json = boost::json;

constexpr std::string_view kUnaryType = "application/json";
constexpr std::string_view kStreamType = "application/connect+json";

constexpr Millis kLongestSilence = std::chrono::hours{1};  // in a client's stream of messages

// How the work of a call came out. Kept as a value: an exception handler cannot await the answer.
struct Outcome {
    enum class Kind { done, failed, client_left, backend_gone } kind = Kind::done;
    std::optional<CodedError> error;

    static Outcome failure(Code code, const Error& error) { return {Kind::failed, CodedError{code, error}}; }
};

// To be called inside a catch block: sorts the exception in flight, lets a cancellation pass.
Outcome outcome_of_exception(const Backend& backend) {
    try {
        throw;
    } catch (const Error& error) {
        if (error.code() == Errc::canceled) throw;
        if (error.code() != Errc::unavailable) return Outcome::failure(code_of(error), error);
        if (!backend.alive()) return {Outcome::Kind::backend_gone, {}};
        return Outcome::failure(Code::internal, error);
    } catch (const std::exception& error) {
        if (is_canceled(std::current_exception())) throw;
        log::error("call failed", {{"what", error.what()}});
        return Outcome::failure(Code::internal, Error{Errc::internal, "internal error"});
    }
}

bool has_type(const http::Exchange& exchange, std::string_view type) {
    const std::string_view given = exchange.request().fields.get("Content-Type");
    return http::equal_ignoring_case(given.substr(0, given.find(';')), type);
}

Task<bool> refuse_wrong_form(http::Exchange& exchange, std::string_view type) {
    if (exchange.request().method != "POST") {
        co_await exchange.respond(405, {{"Allow", "POST"}}, "");
        co_return true;
    }
    if (!has_type(exchange, type)) {
        co_await exchange.respond(415, {{"Accept-Post", std::string{type}}}, "");
        co_return true;
    }
    co_return false;
}

// Waits for the client to leave and for the deadline, beside work that has neither.
Task<> until_deadline(std::optional<Millis> timeout) {
    if (!timeout) timeout = std::chrono::hours{24 * 365};
    co_await sleep_for(*timeout);
    throw Error{Errc::deadline, "context deadline exceeded"};
}

Task<Outcome> work_unary(http::Exchange& exchange, Backend& backend, const UnaryHandler& handler,
                         std::string& reply) {
    try {
        const CallOptions options = or_throw(read_call_options(exchange.request().fields));
        const std::string body = co_await exchange.read_whole_body(kMaxMessage);
        const json::object object = body.empty() ? json::object{} : or_throw(parse_object(body));
        std::optional<std::string> result;
        const std::size_t first = co_await race(store_in(result, handler(Message{object}, options)),
                                                exchange.client_gone(), until_deadline(options.timeout));
        if (first == 1) co_return Outcome{Outcome::Kind::client_left, {}};
        reply = std::move(*result);
        co_return Outcome{};
    } catch (...) {
        co_return outcome_of_exception(backend);
    }
}

Task<Outcome> work_stream(http::Exchange& exchange, Backend& backend, const StreamHandler& handler,
                          ServerStream& stream) {
    try {
        const CallOptions options = or_throw(read_call_options(exchange.request().fields));
        RequestStream request{exchange, kMaxMessage};
        const std::optional<json::object> object = co_await request.next();
        if (!object) throw Error{Errc::invalid_argument, "the request has no message"};
        if (co_await request.next())
            throw Error{Errc::invalid_argument, "the request has more than one message"};
        const std::size_t first =
            co_await race(handler(Message{*object}, options, stream), exchange.client_gone(),
                          backend.until_gone(), stream.keep_alive(options.keepalive, options.timeout));
        if (first == 1) co_return Outcome{Outcome::Kind::client_left, {}};
        if (first == 2) co_return Outcome{Outcome::Kind::backend_gone, {}};
        co_return Outcome{};
    } catch (...) {
        co_return outcome_of_exception(backend);
    }
}

Task<Outcome> work_input(http::Exchange& exchange, Backend& backend, const InputHandler& handler,
                         std::string& reply) {
    try {
        const CallOptions options = or_throw(read_call_options(exchange.request().fields));
        RequestStream request{exchange, kMaxMessage};
        std::optional<std::string> result;
        const std::size_t first = co_await race(store_in(result, handler(request)), backend.until_gone(),
                                                until_deadline(options.timeout));
        if (first == 1) co_return Outcome{Outcome::Kind::backend_gone, {}};
        reply = std::move(*result);
        co_return Outcome{};
    } catch (...) {
        co_return outcome_of_exception(backend);
    }
}

Task<> answer_failure(http::Exchange& exchange, const CodedError& error) {
    http::Fields fields{{"Content-Type", "application/json"}};
    const int status = http_status(error.rpc_code());
    http::add_retry_after(fields, status);
    co_await exchange.respond(status, std::move(fields), error_body(error));
}

// The answer of a streaming call once its work is over.
Task<Served> end_stream(http::Exchange& exchange, ServerStream& stream, const Outcome& outcome) {
    switch (outcome.kind) {
        case Outcome::Kind::done: co_await stream.finish(); break;
        case Outcome::Kind::failed: co_await stream.fail(*outcome.error); break;
        case Outcome::Kind::client_left: exchange.abort(); break;
        case Outcome::Kind::backend_gone: co_return Served::backend_gone;
    }
    co_return Served::answered;
}

}  // namespace

Task<Served> serve_unary(http::Exchange& exchange, Backend& backend, UnaryHandler handler) {
    if (co_await refuse_wrong_form(exchange, kUnaryType)) co_return Served::answered;
    std::string reply;
    const Outcome outcome = co_await work_unary(exchange, backend, handler, reply);
    switch (outcome.kind) {
        case Outcome::Kind::done:
            co_await exchange.respond(200, {{"Content-Type", "application/json"}}, std::move(reply));
            break;
        case Outcome::Kind::failed: co_await answer_failure(exchange, *outcome.error); break;
        case Outcome::Kind::client_left: exchange.abort(); break;
        case Outcome::Kind::backend_gone: co_return Served::backend_gone;
    }
    co_return Served::answered;
}

Task<Served> serve_stream(http::Exchange& exchange, Backend& backend, std::string_view keepalive,
                          StreamHandler handler) {
    if (co_await refuse_wrong_form(exchange, kStreamType)) co_return Served::answered;
    ServerStream stream{exchange, keepalive};
    const Outcome outcome = co_await work_stream(exchange, backend, handler, stream);
    co_return co_await end_stream(exchange, stream, outcome);
}

Task<Served> serve_input_stream(http::Exchange& exchange, Backend& backend, InputHandler handler) {
    if (co_await refuse_wrong_form(exchange, kStreamType)) co_return Served::answered;
    // What a program is told comes when its writer has something to say.
    exchange.allow_silence(kLongestSilence);
    ServerStream stream{exchange, "{}"};
    std::string reply;
    const Outcome outcome = co_await work_input(exchange, backend, handler, reply);
    if (outcome.kind == Outcome::Kind::done) stream.add([&](std::string& out) { out += reply; });
    co_return co_await end_stream(exchange, stream, outcome);
}

}  // namespace oyat::rpc
