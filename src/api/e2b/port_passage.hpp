#pragma once

#include <memory>

#include "api/e2b/destination.hpp"
#include "api/e2b/services.hpp"
#include "core/visit_book.hpp"
#include "http/exchange.hpp"

namespace oyat::e2b {

// Passes a request to a port inside the sandbox and the answer back, WebSockets included. A server that has
// just been started may not listen yet, so a refused connection is tried again for about a second. Who may
// come in is what the sandbox's exposure says (core/exposure.hpp).
Task<> pass_to_port(Services& services, core::VisitBook& visits, http::Exchange& exchange,
                    std::shared_ptr<core::Sandbox> sandbox, ToPort to);

}  // namespace oyat::e2b
