#include "api/e2b/endpoint.hpp"
#include "api/e2b/header_rules.hpp"
#include "api/e2b/network_options.hpp"
#include "base/throwing.hpp"
#include "rpc/message.hpp"

// The network rules of a sandbox that exists.
namespace oyat::e2b {
namespace {

// Replaces all: a field that is missing is cleared.
Task<Reply> put_network(ControlCall& call) {
    const std::string id = call.sandbox_id();
    const boost::json::object body = co_await call.object();
    const core::SandboxRecord& record = call.services.sandboxes.find(id, call.who.tenant)->record();
    if (record.state != core::SandboxState::running) {
        throw Error{Errc::failed_precondition, "sandbox " + id + " is not running"};
    }
    const rpc::Message network{body};
    // In this call it stands beside the lists.
    const Internet internet =
        network.boolean("allow_internet_access", true) ? Internet::allowed : Internet::denied;
    const NetworkOptions options = or_throw(read_network_options(network, record.secure, internet));
    std::vector<core::SecretBinding> rules = read_header_rules(network);
    require_secrets(call.services.vault, call.who.tenant, rules);
    co_await call.services.sandboxes.set_policy(id,
                                                {.document = network_policy(options),
                                                 .proxy = core::PolicyOrder::Proxy::replace,
                                                 .via = options.via,
                                                 .header_rules = std::move(rules)},
                                                call.who);
    co_return Reply::empty(204);
}

constexpr Endpoint kEndpoints[] = {
    {"PUT", "/sandboxes/{id}/network", Need::run, put_network},
};

}  // namespace

std::span<const Endpoint> network_endpoints() {
    return kEndpoints;
}

}  // namespace oyat::e2b
