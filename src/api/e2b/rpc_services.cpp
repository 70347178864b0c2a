#include "api/e2b/rpc_services.hpp"

#include "api/e2b/acting_user.hpp"
#include "api/e2b/error_answer.hpp"
#include "api/e2b/rpc_method.hpp"
#include "api/e2b/sandbox_answer.hpp"
#include "api/e2b/unknown_user.hpp"
#include "rpc/code.hpp"

namespace oyat::e2b {
namespace {

class SandboxBackend final : public rpc::Backend {
public:
    explicit SandboxBackend(core::Sandbox& sandbox) : sandbox_{sandbox} {}
    [[nodiscard]] bool alive() const override {
        return sandbox_.record().state == core::SandboxState::running;
    }
    Task<> until_gone() override { return sandbox_.until_not_running(); }

private:
    core::Sandbox& sandbox_;
};

const RpcMethod* find_method(std::string_view path) {
    for (const std::span<const RpcMethod> service : {process_methods(), filesystem_methods()}) {
        for (const RpcMethod& method : service) {
            if (method.path == path) return &method;
        }
    }
    return nullptr;
}

// Runs one method, and tells a failure over its user apart from others.
template <class Method>
auto with_user(RpcCall& rpc, Method method) -> decltype(method()) {
    std::optional<Error> failure;
    try {
        co_return co_await method();
    } catch (const rpc::CodedError&) {
        throw;
    } catch (const Error& error) {
        if (error.code() != Errc::failed_precondition) throw;
        failure = error;
    }
    if (co_await is_unknown_user(rpc.call, *failure))
        throw rpc::CodedError{rpc::Code::unauthenticated, *std::move(failure)};
    throw *std::move(failure);
}

Task<rpc::Served> serve(RpcCall& rpc, const RpcMethod& method, rpc::Backend& backend) {
    http::Exchange& exchange = rpc.call.exchange;
    if (const auto* unary = std::get_if<Unary>(&method.function)) {
        co_return co_await rpc::serve_unary(
            exchange, backend, [&rpc, unary](const rpc::Message& message, const rpc::CallOptions&) {
                return with_user(rpc, [&rpc, unary, &message] { return (*unary)(rpc, message); });
            });
    }
    if (const auto* streaming = std::get_if<Streaming>(&method.function)) {
        co_return co_await rpc::serve_stream(
            exchange, backend, method.keepalive,
            [&rpc, streaming](const rpc::Message& message, const rpc::CallOptions& options,
                              rpc::ServerStream& out) {
                return with_user(rpc, [&rpc, streaming, &message, &options, &out] {
                    return (*streaming)(rpc, message, options, out);
                });
            });
    }
    const auto input = std::get<InputStreaming>(method.function);
    co_return co_await rpc::serve_input_stream(
        exchange, backend, [&rpc, input](rpc::RequestStream& in) { return input(rpc, in); });
}

}  // namespace

bool is_rpc_method(std::string_view path) {
    return find_method(path) != nullptr;
}

Task<> serve_rpc(AgentCall& call, std::string path, PolledWatchers& watchers) {
    Result<std::string> user = acting_user(call.exchange.request().fields.get("Authorization"));
    if (!user) {
        co_await answer_agent_error(call.exchange, 401, user.error().message());
        co_return;
    }
    call.user = *std::move(user);
    RpcCall rpc{call, watchers};
    SandboxBackend backend{*call.sandbox};
    if (co_await serve(rpc, *find_method(path), backend) == rpc::Served::answered) co_return;
    if (call.exchange.started()) {
        call.exchange.abort();
    } else {
        co_await answer_no_sandbox(call.exchange, call.sandbox->record().id);
    }
}

}  // namespace oyat::e2b
