#include "api/e2b/data_plane.hpp"

#include "api/e2b/port_passage.hpp"
#include "api/e2b/sandbox_answer.hpp"

namespace oyat::e2b {

Task<> DataPlane::handle(http::Exchange& exchange, ToPort to) {
    const std::shared_ptr<core::Sandbox> sandbox = services_.sandboxes.find_any(to.sandbox);
    if (sandbox == nullptr) {
        co_await answer_no_sandbox(exchange, to.sandbox);
    } else if (to.port == kAgentPort) {
        co_await door_.handle(exchange, sandbox, std::move(to.target));
    } else {
        co_await pass_to_port(services_, visits_, exchange, sandbox, std::move(to));
    }
}

}  // namespace oyat::e2b
