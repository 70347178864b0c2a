#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "api/native/call.hpp"
#include "base/result.hpp"
#include "http/front.hpp"
#include "http/router.hpp"

namespace oyat::native {

// oyat's own protocol: /v1/*, /metrics and /health, for the command line, dashboards and scripts. docs/api.md
// lists the calls. Every route stands in a table with the scope that a key needs for it.
class NativeFront final : public http::Front {
public:
    explicit NativeFront(Services services);

    [[nodiscard]] bool handles(const http::RequestHead& request) const override;
    Task<> handle(http::Exchange& exchange) override;

    [[nodiscard]] std::vector<std::string> routes() const override { return router_.routes(); }

private:
    Task<> enter(const Route& route, http::Exchange& exchange, const http::PathValues& values);
    [[nodiscard]] Result<void> admit(const Route& route, const core::Principal& who);
    [[nodiscard]] Result<core::Principal> authenticate(const http::RequestHead& head);
    [[nodiscard]] std::string emit(core::Event event);
    Task<> refuse_call(const Route& route, http::Exchange& exchange, const core::Principal& who, Error error,
                       std::string sandbox);

    Services services_;
    http::Router router_;
};

}  // namespace oyat::native
