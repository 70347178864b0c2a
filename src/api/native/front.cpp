#include "api/native/front.hpp"

#include <optional>

#include "api/native/error_answer.hpp"
#include "base/log.hpp"
#include "base/throwing.hpp"
#include "http/error_status.hpp"

namespace oyat::native {
namespace {

constexpr std::size_t kMaxClient = 128;
constexpr std::size_t kMaxSentence = 1024;

// Who did not say who he is, as opposed to who may not.
constexpr int kUnauthorized = 401;
constexpr std::chrono::seconds kAfterWrongKeys{60};

Task<> answer_error(http::Exchange& exchange, int status, Error error,
                    std::chrono::seconds again = std::chrono::seconds{1}) {
    http::Fields fields{{"Content-Type", "application/json"}};
    http::add_retry_after(fields, status, again);
    co_await exchange.respond(status, std::move(fields), error_json(error));
}

std::string key_in(const http::Fields& fields) {
    if (fields.count("X-API-Key") + fields.count("Authorization") != 1) return {};
    if (fields.has("X-API-Key")) return std::string{fields.get("X-API-Key")};
    constexpr std::string_view kBearer = "Bearer ";  // what Prometheus can send
    const std::string_view given = fields.get("Authorization");
    return std::string{given.starts_with(kBearer) ? given.substr(kBearer.size()) : std::string_view{}};
}

std::string_view name_of(core::Scope scope) {
    switch (scope) {
        case core::Scope::run: return "run";
        case core::Scope::read: return "read";
        case core::Scope::debug: return "debug";
        case core::Scope::admin: return "admin";
    }
    return "";
}

}  // namespace

NativeFront::NativeFront(Services services) : services_{std::move(services)} {
    for (const auto& table : {server_routes(), sandbox_routes(), snapshot_routes(), policy_routes(),
                              process_routes(), port_routes(), file_routes(), event_routes(), key_routes(),
                              secret_routes(), template_routes(), brake_routes()}) {
        for (const Route& route : table) {
            router_.add(std::string{route.method}, std::string{route.pattern},
                        [this, &route](http::Exchange& exchange, const http::PathValues& values) {
                            return enter(route, exchange, values);
                        });
        }
    }
}

bool NativeFront::handles(const http::RequestHead& request) const {
    return request.path.starts_with("/v1/") || request.path == "/metrics" || request.path == "/health" ||
           request.path.starts_with("/.well-known/");
}

Task<> NativeFront::handle(http::Exchange& exchange) {
    const http::RequestHead& head = exchange.request();
    const http::Router::Match match = router_.find(head.method, head.path);
    if (match.handler != nullptr) {
        co_await (*match.handler)(exchange, match.values);
        co_return;
    }
    const Error error{Errc::not_found,
                      match.path_known ? "this path has no such method" : "there is no such call"};
    co_await exchange.respond(match.path_known ? 405 : 404, {{"Content-Type", "application/json"}},
                              error_json(error));
}

Task<> NativeFront::enter(const Route& route, http::Exchange& exchange, const http::PathValues& values) {
    core::Principal who;
    std::optional<Error> problem;
    try {
        if (route.scope) {
            Result<core::Principal> known = authenticate(exchange.request());
            if (!known) {
                const int status = known.error().code() == Errc::exhausted ? 429 : kUnauthorized;
                co_await answer_error(exchange, status, known.error(), kAfterWrongKeys);
                co_return;
            }
            who = *std::move(known);
            if (const Result<void> admitted = admit(route, who); !admitted) throw admitted.error();
            if (!who.may(*route.scope)) {
                throw Error{Errc::denied,
                            "this key lacks the scope '" + std::string{name_of(*route.scope)} + "'"};
            }
        }
        Call call{services_, exchange, values, or_throw(http::Query::parse(exchange.request().query)), who};
        co_await route.handler(call);
    } catch (const Error& error) {
        if (error.code() == Errc::canceled) throw;
        problem = error;
    }
    if (!problem) co_return;
    const auto named = values.find("id");
    std::string sandbox = named == values.end()
                              ? std::string{}
                              : core::own_sandbox(services_.sandboxes, named->second, who.tenant);
    co_await refuse_call(route, exchange, who, *std::move(problem), std::move(sandbox));
}

// The brakes work however many requests their key has made: that may be why they are pulled.
Result<void> NativeFront::admit(const Route& route, const core::Principal& who) {
    if (route.pattern.starts_with("/v1/brakes")) return {};
    return services_.keys.admit(who.key_id);
}

Result<core::Principal> NativeFront::authenticate(const http::RequestHead& head) {
    Result<core::Principal> known = services_.keys.authenticate(key_in(head.fields), head.peer);
    if (known) {
        known->client = std::string{head.fields.get("User-Agent").substr(0, kMaxClient)};
        known->protocol = "native";
    } else if (known.error().code() == Errc::denied) {
        core::Event event;
        event.type = "auth.failed";
        event.fault = known.error().fault();
        event.fields = {{"peer", head.peer}, {"reason", known.error().message()}};
        return std::unexpected{std::move(known).error().recorded_as(emit(std::move(event)))};
    }
    return known;
}

// The answer to the client matters more than its record, which may be what is broken.
std::string NativeFront::emit(core::Event event) {
    try {
        return services_.events.emit(std::move(event));
    } catch (const Error& error) {
        log::warn("a refusal could not be recorded", {{"what", error.message()}});
        return {};
    }
}

Task<> NativeFront::refuse_call(const Route& route, http::Exchange& exchange, const core::Principal& who,
                                Error error, std::string sandbox) {
    const int status = status_of(error);
    // Of refusals for haste one a second is enough on the record.
    const bool hasty = error.code() == Errc::exhausted && error.limit() == auth::kRequestRate;
    if (error.event().empty() && !(hasty && !services_.keys.worth_recording(who.key_id))) {
        core::Event event;
        event.type = "request.refused";
        event.tenant = who.tenant;
        event.sandbox = std::move(sandbox);
        event.fault = error.fault();
        event.fields = {{"route", route.pattern},
                        {"status", status},
                        {"sentence", error.message().substr(0, kMaxSentence)},
                        {"key", who.key_id},
                        {"client", who.client},
                        {"protocol", who.protocol}};
        std::move(error).recorded_as(emit(std::move(event)));  // in place: the call only marks it
    }
    if (exchange.started()) {
        exchange.abort();
        co_return;
    }
    co_await answer_error(exchange, status, error);
}

}  // namespace oyat::native
