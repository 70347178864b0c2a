#pragma once

#include <string>
#include <vector>

#include "api/e2b/endpoint.hpp"
#include "api/e2b/services.hpp"
#include "http/router.hpp"

namespace oyat::e2b {

// The REST calls below the API URL: finds the endpoint, authenticates the key, checks its scope, turns errors
// into bodies with "code" and "message".
class ControlPlane {
public:
    explicit ControlPlane(Services& services);

    [[nodiscard]] bool knows(std::string_view path) const;
    Task<> handle(http::Exchange& exchange);
    [[nodiscard]] std::vector<std::string> routes() const { return router_.routes(); }

private:
    Task<> serve(http::Exchange& exchange, const Endpoint& endpoint, const http::PathValues& values);
    Task<Reply> answer(http::Exchange& exchange, const Endpoint& endpoint, const http::PathValues& values);

    Services& services_;
    CreateOnce once_;
    http::Router router_;
};

}  // namespace oyat::e2b
