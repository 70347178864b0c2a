#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "api/e2b/agent_call.hpp"
#include "api/e2b/polled_watchers.hpp"
#include "rpc/serve.hpp"

namespace oyat::e2b {

// What a method of a service gets: the call, allowed in and with its acting user.
struct RpcCall {
    AgentCall& call;
    PolledWatchers& watchers;

    [[nodiscard]] core::Processes& processes() const { return call.sandbox->processes(); }
    [[nodiscard]] core::Files& files() const { return call.sandbox->files(); }
};

using Unary = Task<std::string> (*)(RpcCall&, const rpc::Message&);
using Streaming = Task<> (*)(RpcCall&, const rpc::Message&, const rpc::CallOptions&, rpc::ServerStream&);
using InputStreaming = Task<std::string> (*)(RpcCall&, rpc::RequestStream&);

struct RpcMethod {
    std::string_view path;  // "/package.Service/Method"
    std::variant<Unary, Streaming, InputStreaming> function;
    std::string_view keepalive = {};  // of a streaming method: what is sent into silence
};

[[nodiscard]] std::span<const RpcMethod> process_methods();
[[nodiscard]] std::span<const RpcMethod> filesystem_methods();

}  // namespace oyat::e2b
