#include "daemon/front_door.hpp"

namespace oyat::daemon {

Task<> FrontDoor::handle(http::Exchange& exchange) {
    for (const Named& candidate : fronts_) {
        if (!candidate.front->handles(exchange.request())) continue;
        on_request_(candidate.name);
        co_await candidate.front->handle(exchange);
        co_return;
    }
    on_request_("none");
    co_await exchange.respond(404, {{"Content-Type", "text/plain"}}, "there is nothing here\n");
}

std::vector<std::string> FrontDoor::routes() const {
    std::vector<std::string> all;
    for (const Named& named : fronts_) {
        for (std::string& route : named.front->routes()) all.push_back(std::move(route));
    }
    return all;
}

}  // namespace oyat::daemon
