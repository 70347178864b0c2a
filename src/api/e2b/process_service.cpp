#include <signal.h>

#include "api/e2b/agent_facts.hpp"
#include "api/e2b/process_events.hpp"
#include "api/e2b/rpc_method.hpp"
#include "base/throwing.hpp"
#include "rpc/code.hpp"

namespace oyat::e2b {
namespace {

using ProcessPtr = std::shared_ptr<core::Process>;

[[noreturn]] void invalid(std::string sentence) {
    throw Error{Errc::invalid_argument, std::move(sentence)};
}

// {"process":{"pid":42}} or {"process":{"tag":"x"}}.
ProcessPtr select(RpcCall& rpc, const rpc::Message& message) {
    const std::optional<rpc::Message> selector = message.message("process");
    if (!selector) invalid("no process is selected");
    if (selector->has("tag")) {
        const std::string tag = selector->string("tag");
        if (ProcessPtr process = rpc.processes().find_tag(tag)) return process;
        throw Error{Errc::not_found, "process with tag " + tag + " not found"};
    }
    const std::uint32_t pid = selector->uint32("pid");
    if (ProcessPtr process = rpc.processes().find(pid)) return process;
    throw Error{Errc::not_found, "process with pid " + std::to_string(pid) + " not found"};
}

// The same, but one that has ended is no longer there.
ProcessPtr select_alive(RpcCall& rpc, const rpc::Message& message) {
    ProcessPtr process = select(rpc, message);
    if (process->end())
        throw Error{Errc::not_found, "process with pid " + std::to_string(process->pid()) + " not found"};
    return process;
}

std::optional<core::TermSize> terminal_size(const rpc::Message& message) {
    const std::optional<rpc::Message> pty = message.message("pty");
    if (!pty) return std::nullopt;
    core::TermSize size;
    if (const std::optional<rpc::Message> given = pty->message("size")) {
        if (const std::uint32_t cols = given->uint32("cols")) size.cols = cols;
        if (const std::uint32_t rows = given->uint32("rows")) size.rows = rows;
    }
    if (size.cols > 0xFFFF || size.rows > 0xFFFF) invalid("a terminal has at most 65,535 rows and columns");
    return size;
}

void refuse_nul(const std::string& text, std::string_view what) {
    if (text.find('\0') != std::string::npos) invalid(std::string{what} + " holds a NUL");
}

core::RunRequest run_request(RpcCall& rpc, const rpc::Message& message, const rpc::CallOptions& options) {
    const std::optional<rpc::Message> config = message.message("process");
    if (!config || config->string("cmd").empty()) invalid("no command is given");
    core::RunRequest request;
    request.argv = config->strings("args");
    request.argv.insert(request.argv.begin(), config->string("cmd"));
    for (const std::string& argument : request.argv) refuse_nul(argument, "an argument");
    request.env = config->string_map("envs");
    for (const auto& [name, value] : request.env) {
        refuse_nul(name, "the name of a variable");
        refuse_nul(value, "the value of a variable");
        if (name.empty() || name.find('=') != std::string::npos)
            invalid("'" + name + "' is no name of a variable");
    }
    request.forced_env = place_variables(rpc.call.sandbox->record());
    request.cwd = config->string("cwd");
    refuse_nul(request.cwd, "the working directory");
    request.user = rpc.call.user;
    request.pty = terminal_size(message);
    request.stdin_open = message.boolean("stdin", true);  // clients that don't say want it open
    request.wall = options.timeout;  // the deadline of the call is the life of the process
    request.tag = message.string("tag");
    return request;
}

// A process whose time ran out is a failed call to who started it, and a killed process to who looks on.
enum class TimeOut { fails, is_shown };

// Shows a process to the client until its end.
Task<> show(core::Process& process, std::unique_ptr<core::Subscription> events, TimeOut time_out,
            rpc::ServerStream& out) {
    out.add([&](std::string& json) { append_start(json, process.pid()); });
    co_await out.flush();
    while (std::optional<core::ProcessEvent> event = co_await events->next()) {
        if (const auto* output = std::get_if<core::Output>(&*event)) {
            out.add([&](std::string& json) { append_output(json, *output); });
            co_await out.flush();
            continue;
        }
        const auto& end = std::get<core::ProcessEnd>(*event);
        if (end.timed_out && time_out == TimeOut::fails)
            throw Error{Errc::deadline, Fault::limit, "context deadline exceeded"};
        out.add([&](std::string& json) { append_end(json, end); });  // goes out with the end of the stream
    }
}

Task<> start(RpcCall& rpc, const rpc::Message& message, const rpc::CallOptions& options,
             rpc::ServerStream& out) {
    const ProcessPtr process =
        co_await rpc.processes().start(run_request(rpc, message, options), rpc.call.who);
    co_await show(*process, process->subscribe(), TimeOut::fails, out);
}

Task<> connect(RpcCall& rpc, const rpc::Message& message, const rpc::CallOptions&, rpc::ServerStream& out) {
    const ProcessPtr process = select(rpc, message);
    co_await show(*process, process->subscribe(), TimeOut::is_shown, out);
}

Task<std::string> list(RpcCall& rpc, const rpc::Message&) {
    std::string json = "{\"processes\":[";
    bool first = true;
    for (const ProcessPtr& process : rpc.processes().alive()) {
        if (!first) json += ',';
        first = false;
        append_process(json, *process);
    }
    json += "]}";
    co_return json;
}

Task<std::string> update(RpcCall& rpc, const rpc::Message& message) {
    const ProcessPtr process = select_alive(rpc, message);
    if (const std::optional<core::TermSize> size = terminal_size(message)) co_await process->resize(*size);
    co_return "{}";
}

// {"stdin":"..."} or {"pty":"..."}: must fit the process.
Task<> give_input(ProcessPtr process, const rpc::Message& message) {
    const std::optional<rpc::Message> input = message.message("input");
    if (!input) co_return;
    const bool terminal = process->request().pty.has_value();
    if (input->has("stdin") && terminal) {
        throw rpc::CodedError{rpc::Code::internal,
                              {Errc::failed_precondition, "the process has a terminal: send pty input"}};
    }
    if (input->has("pty") && !terminal) {
        throw rpc::CodedError{rpc::Code::internal,
                              {Errc::failed_precondition, "the process has no terminal: send stdin"}};
    }
    std::string bytes = input->bytes(terminal ? "pty" : "stdin");
    if (!bytes.empty()) co_await process->write_input(std::move(bytes));
}

Task<std::string> send_input(RpcCall& rpc, const rpc::Message& message) {
    co_await give_input(select_alive(rpc, message), message);
    co_return "{}";
}

Task<std::string> stream_input(RpcCall& rpc, rpc::RequestStream& in) {
    ProcessPtr process;
    while (const std::optional<boost::json::object> object = co_await in.next()) {
        const rpc::Message message{*object};
        if (const std::optional<rpc::Message> begin = message.message("start")) {
            process = select_alive(rpc, *begin);
        } else if (const std::optional<rpc::Message> data = message.message("data")) {
            if (process == nullptr) invalid("input comes before the start message");
            co_await give_input(process, *data);
        }
    }
    if (process == nullptr) invalid("the stream has no start message");
    co_return "{}";
}

Task<std::string> send_signal(RpcCall& rpc, const rpc::Message& message) {
    const int signal =
        message.enumeration("signal", {{"SIGNAL_SIGKILL", SIGKILL}, {"SIGNAL_SIGTERM", SIGTERM}});
    if (signal != SIGKILL && signal != SIGTERM) {
        throw Error{Errc::unimplemented, "only SIGNAL_SIGKILL and SIGNAL_SIGTERM can be sent"};
    }
    co_await select_alive(rpc, message)->signal(signal);
    co_return "{}";
}

Task<std::string> close_stdin(RpcCall& rpc, const rpc::Message& message) {
    const ProcessPtr process = select_alive(rpc, message);
    if (process->request().pty) {
        throw Error{Errc::failed_precondition, "a terminal's input is not closed: send Ctrl-D (0x04)"};
    }
    co_await process->close_input();
    co_return "{}";
}

constexpr std::string_view kKeepalive = R"({"event":{"keepalive":{}}})";

constexpr RpcMethod kMethods[] = {
    {"/process.Process/Start", start, kKeepalive},
    {"/process.Process/Connect", connect, kKeepalive},
    {"/process.Process/List", list},
    {"/process.Process/Update", update},
    {"/process.Process/SendInput", send_input},
    {"/process.Process/StreamInput", stream_input},
    {"/process.Process/SendSignal", send_signal},
    {"/process.Process/CloseStdin", close_stdin},
};

}  // namespace

std::span<const RpcMethod> process_methods() {
    return kMethods;
}

}  // namespace oyat::e2b
