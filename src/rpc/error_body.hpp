#pragma once

#include <string>

#include "base/error.hpp"

namespace oyat::rpc {

// {"code":"not_found","message":"...","fault":"client","event":"ev_12"}: the protocol's own two fields, then
// whose fault it was and which event records it.
[[nodiscard]] std::string error_body(const Error& error);

}  // namespace oyat::rpc
