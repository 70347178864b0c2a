#include "api/e2b/create_request.hpp"
#include "api/e2b/endpoint.hpp"
#include "api/e2b/header_rules.hpp"
#include "api/e2b/sandbox_view.hpp"
#include "base/throwing.hpp"
#include "rpc/message.hpp"

namespace oyat::e2b {
namespace {

namespace json = boost::json;
using std::chrono::seconds;

Reply connection(ControlCall& call, int status, const core::SandboxRecord& record) {
    return Reply::json(status, connection_view(record, call.services.settings));
}

Task<std::string> make(ControlCall& call, core::CreateRequest request) {
    const std::shared_ptr<core::Sandbox> sandbox =
        co_await call.services.sandboxes.create(std::move(request), call.who);
    co_return sandbox->record().id;
}

// A dialect's `secrets {VARIABLE: name}`: each goes to the hosts that the secret itself names, in any field.
void add_named_secrets(ControlCall& call, const json::object& body, core::SecretPlan& plan) {
    for (const auto& [variable, name] : rpc::Message{body}.string_map("secrets")) {
        if (call.services.vault == nullptr) throw Error{Errc::unimplemented, "this server keeps no secrets"};
        const secrets::Secret& secret = call.services.vault->find(call.who.tenant, name);
        if (secret.hosts.empty()) {
            throw Error{Errc::invalid_argument,
                        "secret " + secret.name + " names no hosts that it may go to"};
        }
        core::SecretBinding& binding = plan.bindings.emplace_back();
        binding.secret = secret.name;
        binding.env = variable;
        binding.hosts = secret.hosts;
        binding.during_install = true;
    }
}

Task<Reply> create(ControlCall& call, CreateForm form) {
    const json::object body = co_await call.object();
    core::CreateRequest request = or_throw(read_create_request(body, form, call.services.settings));
    require_secrets(call.services.vault, call.who.tenant, request.secrets.bindings);
    add_named_secrets(call, body, request.secrets);
    const std::string key{call.exchange.request().fields.get("Idempotency-Key")};
    std::string id;
    if (key.empty()) {
        id = co_await make(call, request);
    } else {
        if (!is_idempotency_key(key)) throw Error{Errc::invalid_argument, "the Idempotency-Key is none"};
        id = co_await call.once.id_for(call.who.tenant, key, [&] { return make(call, request); });
    }
    co_return connection(call, 201, call.services.sandboxes.find(id, call.who.tenant)->record());
}

Task<Reply> create_v1(ControlCall& call) {
    return create(call, CreateForm::v1);
}
Task<Reply> create_v2(ControlCall& call) {
    return create(call, CreateForm::v2);
}

// `memory: false`: of a pause, that files alone are kept; of a resume, that it is a cold start from them.
core::Keep keep_of(const json::object& body) {
    return rpc::Message{body}.boolean("memory", true) ? core::Keep::memory : core::Keep::disk;
}

Task<Reply> connect(ControlCall& call, seconds missing_timeout) {
    const std::string id = call.sandbox_id();
    const json::object body = co_await call.object();
    const Millis timeout = or_throw(read_timeout(body, "timeout", missing_timeout, call.services.settings));
    const bool was_paused = co_await call.services.sandboxes.connect(id, timeout, keep_of(body), call.who);
    co_return connection(call, was_paused ? 201 : 200,
                         call.services.sandboxes.find(id, call.who.tenant)->record());
}

Task<Reply> connect_default(ControlCall& call) {
    return connect(call, seconds{300});
}

Task<Reply> resume(ControlCall& call) {
    const std::string id = call.sandbox_id();
    if (call.services.sandboxes.find(id, call.who.tenant)->record().state == core::SandboxState::running) {
        throw Error{Errc::failed_precondition, "sandbox " + id + " is running already"};
    }
    Reply reply = co_await connect(call, seconds{15});
    reply.status = 201;
    co_return reply;
}

Task<Reply> pause(ControlCall& call) {
    const std::string id = call.sandbox_id();
    const json::object body = co_await call.object();
    co_await call.services.sandboxes.pause(id, keep_of(body), call.who);
    co_return Reply::empty(204);
}

Task<Reply> set_timeout(ControlCall& call) {
    const std::string id = call.sandbox_id();
    const json::object body = co_await call.object();
    if (!rpc::Message{body}.has("timeout")) throw Error{Errc::invalid_argument, "'timeout' is missing"};
    const Millis timeout = or_throw(read_timeout(body, "timeout", seconds{0}, call.services.settings));
    co_await call.services.sandboxes.set_timeout(id, timeout, core::TimeoutMode::replace, call.who);
    co_return Reply::empty(204);
}

Task<Reply> refresh(ControlCall& call) {
    const std::string id = call.sandbox_id();
    const json::object body = co_await call.object();
    const Millis longer = or_throw(read_timeout(body, "duration", seconds{15}, call.services.settings));
    if (longer > std::chrono::hours{1}) throw Error{Errc::invalid_argument, "'duration' is more than 3600"};
    co_await call.services.sandboxes.set_timeout(id, longer, core::TimeoutMode::extend_only, call.who);
    co_return Reply::empty(204);
}

Task<Reply> kill(ControlCall& call) {
    co_await call.services.sandboxes.kill(call.sandbox_id(), call.who, core::EndedBy::killed);
    co_return Reply::empty(204);
}

constexpr Endpoint kEndpoints[] = {
    {"POST", "/v2/sandboxes", Need::run, create_v2},
    {"POST", "/sandboxes", Need::run, create_v1},
    {"POST", "/v2/sandboxes/{id}/connect", Need::run, connect_default},
    {"POST", "/sandboxes/{id}/connect", Need::run, connect_default},
    {"POST", "/sandboxes/{id}/resume", Need::run, resume},
    {"POST", "/sandboxes/{id}/pause", Need::run, pause},
    {"POST", "/sandboxes/{id}/timeout", Need::run, set_timeout},
    {"POST", "/sandboxes/{id}/refreshes", Need::run, refresh},
    {"DELETE", "/sandboxes/{id}", Need::run, kill},
};

}  // namespace

std::span<const Endpoint> lifecycle_endpoints() {
    return kEndpoints;
}

}  // namespace oyat::e2b
