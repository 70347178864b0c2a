#pragma once

#include <string>

#include "base/error.hpp"
#include "http/exchange.hpp"

namespace oyat::e2b {

// The HTTP status of an error on the control plane, and at the agent's plain HTTP calls (where a full disk is
// 507).
[[nodiscard]] int control_status(const Error& error) noexcept;
[[nodiscard]] int agent_status(const Error& error) noexcept;

// {"code":404,"message":"...","fault":"client","event":"ev_12"}: what clients read (they look at "code", not
// at the status), then what is ours.
[[nodiscard]] std::string control_error_body(int status, const Error& error);

// {"code":404,"message":"..."}: exactly that, clients compare it; ours goes into header fields.
[[nodiscard]] std::string agent_error_body(int status, std::string_view message);

Task<> answer_control_error(http::Exchange& exchange, Error error);
Task<> answer_agent_error(http::Exchange& exchange, Error error);
Task<> answer_agent_error(http::Exchange& exchange, int status, std::string message);

}  // namespace oyat::e2b
