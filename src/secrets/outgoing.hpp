#pragma once

#include <string>
#include <string_view>

#include "http/request_transform.hpp"
#include "masking/patterns.hpp"
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
    // A service that sends a credential back does not give it to the sandbox.
    [[nodiscard]] std::unique_ptr<http::AnswerFilter> filter(const http::OutgoingRequest& request) override;

private:
    Secrets& secrets_;
    const std::string sandbox_;
    // Of all that the sandbox may use, and the generation that they are from.
    std::shared_ptr<const masking::Patterns> patterns_;
    std::uint64_t generation_ = 0;
};

}  // namespace oyat::secrets
