#include "api/e2b/front.hpp"

#include "api/e2b/destination.hpp"
#include "api/e2b/error_answer.hpp"
#include "api/e2b/rpc_services.hpp"

namespace oyat::e2b {
namespace {

// Paths that only make sense in a sandbox: without routing information they get an explanation, not a "not
// found".
bool belongs_to_a_sandbox(std::string_view path) {
    return path == "/files" || path == "/envs" || is_rpc_method(path);
}

}  // namespace

E2bFront::E2bFront(Services services)
    : services_{std::move(services)}, control_{services_}, data_{services_}, links_{services_} {}

bool E2bFront::handles(const http::RequestHead& head) const {
    return !std::holds_alternative<ToServer>(destination_of(head)) || belongs_to_a_sandbox(head.path) ||
           control_.knows(head.path);
}

Task<> E2bFront::handle(http::Exchange& exchange) {
    Destination to = destination_of(exchange.request());
    if (auto* port = std::get_if<ToPort>(&to)) {
        if (port->port != 0) co_return co_await data_.handle(exchange, std::move(*port));
        co_return co_await answer_agent_error(exchange, 400, "not a port number");
    }
    if (const auto* contradiction = std::get_if<Contradiction>(&to)) {
        co_return co_await answer_agent_error(exchange, 400, contradiction->reason);
    }
    if (!belongs_to_a_sandbox(exchange.request().path)) co_return co_await control_.handle(exchange);

    const LinkPlace place = links_.find(exchange.request());
    if (place.sandbox != nullptr) {
        co_await data_.handle(exchange,
                              ToPort{place.sandbox->record().id, kAgentPort, exchange.request().target});
    } else {
        co_await answer_agent_error(exchange, place.status, place.sentence);
    }
}

}  // namespace oyat::e2b
