#include <boost/json/array.hpp>
#include <csignal>

#include "api/native/body.hpp"
#include "api/native/call.hpp"
#include "api/native/command_stream.hpp"
#include "base/throwing.hpp"
#include "core/json_text.hpp"
#include "io/framed_stream.hpp"
#include "io/timer.hpp"
#include "rpc/message.hpp"

// Commands of a sandbox.
namespace oyat::native {
namespace {

using core::Scope;

constexpr std::uint64_t kMaxWall = 30ull * 24 * 3600 * 1000;
constexpr std::uint64_t kMaxCells = 4096;
constexpr int kHighestSignal = 64;
constexpr Millis kOrderLimit{10'000};

core::RunRequest run_request(Body body) {
    core::RunRequest request;
    request.argv = body.texts("argv");
    if (request.argv.empty())
        throw Error{Errc::invalid_argument, "argv is missing: the program and its arguments"};
    request.env = body.map("env");
    request.cwd = body.text("cwd").value_or("");
    request.user = body.text("user").value_or("");
    request.stdin_open = body.flag("stdin").value_or(false);
    request.tag = body.text("tag").value_or("");
    if (const auto wall = body.number("timeout_ms", kMaxWall)) request.wall = Millis{*wall};
    if (auto pty = body.object("pty")) {
        core::TermSize size;
        size.cols = static_cast<std::uint32_t>(pty->number("cols", kMaxCells).value_or(size.cols));
        size.rows = static_cast<std::uint32_t>(pty->number("rows", kMaxCells).value_or(size.rows));
        pty->done();
        request.pty = size;
    }
    body.done();
    return request;
}

Task<> start_and_serve(FramedStream& frames, core::Sandbox& sandbox, core::Principal who) {
    const auto order = co_await with_timeout(kOrderLimit, "wait for the command", frames.read());
    if (!order || order->kind != 'q')
        throw Error{Errc::invalid_argument, "the first frame must be the command"};
    const std::shared_ptr<core::Process> process = co_await sandbox.processes().start(
        run_request(Body{or_throw(rpc::parse_object(order->bytes))}), std::move(who));
    const std::unique_ptr<core::Subscription> output = process->subscribe();
    co_await serve_command(frames, *process, *output);
}

// The command itself is the first frame: a request that switches protocols has no body.
Task<> exec(Call& call) {
    const std::shared_ptr<core::Sandbox> sandbox = call.sandbox();
    (void)sandbox->processes();  // says by its status when it does not run
    const std::unique_ptr<Stream> stream = co_await call.upgrade(std::string{kCommandProtocol});
    FramedStream frames{*stream};
    co_await tell_failures(frames, start_and_serve(frames, *sandbox, call.who));
    stream->shutdown_write();
}

std::shared_ptr<core::Process> find_process(Call& call, core::Sandbox& sandbox) {
    const std::string& text = call.values.at("pid");
    const bool is_number =
        !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == text.npos;
    auto process =
        is_number ? sandbox.processes().find(static_cast<std::uint32_t>(std::stoul(text))) : nullptr;
    if (process == nullptr)
        throw Error{Errc::not_found, "no command with this pid was started through the API"};
    return process;
}

Task<> attach(Call& call) {
    const std::shared_ptr<core::Sandbox> sandbox = call.sandbox();
    const std::shared_ptr<core::Process> process = find_process(call, *sandbox);
    const std::unique_ptr<core::Subscription> output = process->subscribe();
    const std::unique_ptr<Stream> stream = co_await call.upgrade(std::string{kCommandProtocol});
    FramedStream frames{*stream};
    co_await tell_failures(frames, serve_command(frames, *process, *output));
    stream->shutdown_write();
}

Task<> processes(Call& call) {
    const std::shared_ptr<core::Sandbox> sandbox = call.sandbox();
    boost::json::array all;
    for (const auto& process : sandbox->processes().alive()) {
        const core::RunRequest& request = process->request();
        all.push_back({{"pid", process->pid()},
                       {"argv", core::json_texts(request.argv)},
                       {"cwd", core::json_text(request.cwd)},
                       {"user", core::json_text(request.user)},
                       {"tag", core::json_text(request.tag)},
                       {"pty", request.pty.has_value()},
                       {"started", to_rfc3339(process->started())}});
    }
    co_await call.answer(200, boost::json::object{{"processes", std::move(all)}});
}

Task<> signal(Call& call) {
    Body body = co_await Body::read(call.exchange);
    const auto number = body.number("signal", kHighestSignal);
    body.done();
    const std::shared_ptr<core::Sandbox> sandbox = call.sandbox();
    co_await find_process(call, *sandbox)->signal(static_cast<int>(number.value_or(SIGTERM)));
    co_await call.answer_empty();
}

constexpr Route kRoutes[] = {
    {"POST", "/v1/sandboxes/{id}/exec", Scope::run, exec},
    {"GET", "/v1/sandboxes/{id}/processes", Scope::read, processes},
    {"POST", "/v1/sandboxes/{id}/processes/{pid}/attach", Scope::debug, attach},
    {"POST", "/v1/sandboxes/{id}/processes/{pid}/signal", Scope::run, signal},
};

}  // namespace

std::span<const Route> process_routes() {
    return kRoutes;
}

}  // namespace oyat::native
