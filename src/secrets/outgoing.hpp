#pragma once

#include <string>
#include <string_view>

#include "http/request_transform.hpp"
#include "secrets/secrets.hpp"

namespace oyat::secrets {

// The broker as it stands in the way of one sandbox's requests.
class Outgoing final : public http::RequestTransform {
public:
    Outgoing(Secrets& secrets, std::string sandbox) : secrets_{secrets}, sandbox_{std::move(sandbox)} {}

    [[nodiscard]] std::size_t wants_body(const http::OutgoingRequest& request) const override;
    Task<Result<void>> apply(http::OutgoingRequest& request) override;
    [[nodiscard]] std::unique_ptr<http::BodyWatch> watch(const http::OutgoingRequest& request) override;
    [[nodiscard]] bool may_look_up(const std::string& name) override;
    [[nodiscard]] bool may_record(std::string_view text) const override;

private:
    Secrets& secrets_;
    const std::string sandbox_;
};

}  // namespace oyat::secrets
