#pragma once

#include <functional>
#include <string>

#include "http/exchange.hpp"
#include "rpc/call.hpp"
#include "rpc/message.hpp"
#include "rpc/request_stream.hpp"
#include "rpc/server_stream.hpp"

// Serves one call of the Connect protocol with its JSON codec. A handler answers with the JSON of its reply,
// or throws Error; the error's code and HTTP status are chosen here (code.hpp). An Error{unavailable} means
// that the backend is gone if it is, and an internal trouble if it lives.
namespace oyat::rpc {

// The largest message that is read: input of a program comes in one.
inline constexpr std::size_t kMaxMessage = 8 * 1024 * 1024;

using UnaryHandler = std::function<Task<std::string>(const Message&, const CallOptions&)>;
using StreamHandler = std::function<Task<>(const Message&, const CallOptions&, ServerStream&)>;
using InputHandler = std::function<Task<std::string>(RequestStream&)>;

// One message in, one out.
Task<Served> serve_unary(http::Exchange& exchange, Backend& backend, UnaryHandler handler);

// One message in, many out. Ends when the handler does, at the call's deadline, when the client leaves or the
// backend is gone. `keepalive` is the message sent into silence.
Task<Served> serve_stream(http::Exchange& exchange, Backend& backend, std::string_view keepalive,
                          StreamHandler handler);

// Many messages in, one out.
Task<Served> serve_input_stream(http::Exchange& exchange, Backend& backend, InputHandler handler);

}  // namespace oyat::rpc
