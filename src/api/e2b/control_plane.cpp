#include "api/e2b/control_plane.hpp"

#include "api/e2b/error_answer.hpp"
#include "api/e2b/refusal_record.hpp"
#include "base/log.hpp"
#include "http/error_status.hpp"
#include "io/cancel.hpp"

namespace oyat::e2b {
namespace {

// The key of a request: in its own header, or as the older clients send it.
std::string key_of(const http::Fields& fields) {
    if (const std::string_view key = fields.get("X-API-KEY"); !key.empty()) return std::string{key};
    constexpr std::string_view kBearer = "Bearer ";
    const std::string_view authorization = fields.get("Authorization");
    return authorization.starts_with(kBearer) ? std::string{authorization.substr(kBearer.size())}
                                              : std::string{};
}

bool may(const core::Principal& who, Need need) {
    switch (need) {
        case Need::nothing: return true;
        case Need::look: return who.may(core::Scope::read) || who.may(core::Scope::run);
        case Need::run: return who.may(core::Scope::run);
    }
    return false;
}

Result<core::Principal> authenticate(Services& services, const http::RequestHead& head) {
    const std::string key = key_of(head.fields);
    if (key.empty()) return refuse(Errc::denied, "no API key: send it in the header X-API-KEY");
    Result<core::Principal> who = services.keys.authenticate(key, head.peer);
    if (!who) return who;
    complete_principal(*who, head);
    return who;
}

constexpr std::chrono::seconds kAfterWrongKeys{60};

Reply refusal(int status, const Error& error, std::chrono::seconds again = std::chrono::seconds{1}) {
    Reply reply{status, control_error_body(status, error), {{"Content-Type", "application/json"}}};
    http::add_retry_after(reply.fields, status, again);
    return reply;
}

Reply unauthenticated(Services& services, const http::RequestHead& head, const Error& error) {
    const std::string event = record_failed_login(services, head, error);
    const Error shown = Error{error}.recorded_as(event);
    const int status = error.code() == Errc::denied ? 401 : control_status(error);
    return refusal(status, shown, kAfterWrongKeys);
}

// Too fast: told apart from other refusals, since each would be a line on the record.
std::optional<Reply> over_rate(Services& services, const core::Principal& who, std::string_view route) {
    const Result<void> admitted = services.keys.admit(who.key_id);
    if (admitted) return std::nullopt;
    const int status = control_status(admitted.error());
    Error shown = admitted.error();
    if (services.keys.worth_recording(who.key_id)) {
        shown = record_refusal(services, who, route, status, std::move(shown), {});
    }
    return refusal(status, shown);
}

}  // namespace

ControlPlane::ControlPlane(Services& services) : services_{services}, once_{services.clock} {
    for (const std::span<const Endpoint> table :
         {lifecycle_endpoints(), listing_endpoints(), measurement_endpoints(), template_endpoints(),
          network_endpoints(), secret_endpoints(), snapshot_endpoints(), later_endpoints()}) {
        for (const Endpoint& endpoint : table) {
            router_.add(std::string{endpoint.method}, std::string{endpoint.pattern},
                        [this, &endpoint](http::Exchange& exchange, const http::PathValues& values) {
                            return serve(exchange, endpoint, values);
                        });
        }
    }
}

bool ControlPlane::knows(std::string_view path) const {
    const http::Router::Match match = router_.find("GET", path);
    return match.handler != nullptr || match.path_known;
}

Task<> ControlPlane::handle(http::Exchange& exchange) {
    const http::RequestHead& head = exchange.request();
    const http::Router::Match match = router_.find(head.method, head.path);
    if (match.handler != nullptr) {
        co_await (*match.handler)(exchange, match.values);
    } else if (match.path_known) {
        co_await exchange.respond(
            405, {{"Content-Type", "application/json"}},
            control_error_body(405, Error{Errc::invalid_argument, "method not allowed here"}));
    } else {
        co_await answer_control_error(exchange, Error{Errc::not_found, "no such path"});
    }
}

Task<> ControlPlane::serve(http::Exchange& exchange, const Endpoint& endpoint,
                           const http::PathValues& values) {
    Reply reply = co_await answer(exchange, endpoint, values);
    co_await exchange.respond(reply.status, std::move(reply.fields), std::move(reply.body));
}

Task<Reply> ControlPlane::answer(http::Exchange& exchange, const Endpoint& endpoint,
                                 const http::PathValues& values) {
    core::Principal who;
    if (endpoint.need != Need::nothing) {
        Result<core::Principal> known = authenticate(services_, exchange.request());
        if (!known) co_return unauthenticated(services_, exchange.request(), known.error());
        who = *std::move(known);
        if (std::optional<Reply> refused = over_rate(services_, who, endpoint.pattern))
            co_return *std::move(refused);
    }
    ControlCall call{services_, exchange, values, who, once_};
    std::optional<Error> failure;
    try {
        if (!may(who, endpoint.need))
            throw Error{Errc::denied, "this API key may not do that: it lacks the scope"};
        co_return co_await endpoint.function(call);
    } catch (const Error& error) {
        if (error.code() == Errc::canceled) throw;
        failure = error;
    } catch (const std::exception& error) {
        if (is_canceled(std::current_exception())) throw;
        log::error("control call failed", {{"route", endpoint.pattern}, {"what", error.what()}});
        failure = Error{Errc::internal, "internal error"};
    }
    const int status = control_status(*failure);
    const auto named = values.find("id");
    std::string sandbox = named == values.end() ? std::string{}
                                                : core::own_sandbox(services_.sandboxes,
                                                                    sandbox_named(named->second), who.tenant);
    failure =
        record_refusal(services_, who, endpoint.pattern, status, *std::move(failure), std::move(sandbox));
    co_return refusal(status, *failure);
}

}  // namespace oyat::e2b
