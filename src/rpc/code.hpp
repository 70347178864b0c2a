#pragma once

#include <string_view>

#include "base/error.hpp"

namespace oyat::rpc {

// The codes of the Connect protocol. Each has one name on the wire and one HTTP status for unary answers.
enum class Code {
    canceled,
    unknown,
    invalid_argument,
    deadline_exceeded,
    not_found,
    already_exists,
    permission_denied,
    resource_exhausted,
    failed_precondition,
    aborted,
    out_of_range,
    unimplemented,
    internal,
    unavailable,
    data_loss,
    unauthenticated
};

[[nodiscard]] std::string_view to_string(Code code) noexcept;
[[nodiscard]] int http_status(Code code) noexcept;

// The code that an error has when its thrower did not choose another (CodedError).
[[nodiscard]] Code code_of(Errc code) noexcept;

// An error whose code on the wire is not the one of its Errc, as "unauthenticated" has none there.
class CodedError final : public Error {
public:
    CodedError(Code code, Error error) : Error{std::move(error)}, code_{code} {}
    [[nodiscard]] Code rpc_code() const noexcept { return code_; }

private:
    Code code_;
};

[[nodiscard]] Code code_of(const Error& error) noexcept;

}  // namespace oyat::rpc
