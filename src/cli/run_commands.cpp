#include <boost/asio/this_coro.hpp>
#include <optional>

#include "cli/command_session.hpp"
#include "cli/commands.hpp"
#include "cli/failure.hpp"
#include "cli/json_read.hpp"
#include "cli/new_sandbox.hpp"
#include "io/race.hpp"

// Commands that run something inside.
namespace oyat::cli {
namespace {

// A failure of oyat's has its own exit code, so that it cannot be taken for the command's.
Task<int> attempt(Context& context, Task<int> command) {
    std::optional<Failure> failure;
    try {
        co_return co_await std::move(command);
    } catch (const Failure& caught) {
        failure = caught;
    } catch (const Error& caught) {
        if (caught.code() == Errc::canceled) throw;
        failure = Failure{caught, hint_for(caught)};
    }
    print_failure(*failure, failure->hint(), context.json);
    co_return kNotStarted;
}

Task<> kill_quietly(Context& context, std::string id) {
    try {
        co_await context.client.remove("/v1/sandboxes/" + id);
    } catch (const Error& error) {
        if (error.code() != Errc::not_found) {
            print_to(STDERR_FILENO, "oyat: sandbox " + id + " could not be ended: " + error.message() + "\n");
        }
    }
}

// From the first moment on Ctrl-C is for the command: it cannot leave a sandbox behind.
Task<int> run_once(Context& context, NewSandbox sandbox, Command command, bool keep) {
    Signals signals{co_await boost::asio::this_coro::executor, kPersonsSignals};
    const std::string id = text(co_await make_sandbox(context, std::move(sandbox)), "id");
    std::exception_ptr failure;
    int code = kNotStarted;
    try {
        code = co_await run_in(context, id, std::move(command), signals);
    } catch (...) {
        failure = std::current_exception();
    }
    if (keep) {
        print_to(STDERR_FILENO, "oyat: the sandbox stays: " + id + "\n");
    } else {
        co_await shielded(kill_quietly(context, id));
    }
    if (failure) std::rethrow_exception(failure);
    co_return code;
}

Task<int> exec_once(Context& context, std::string id, Command command) {
    Signals signals{co_await boost::asio::this_coro::executor, kPersonsSignals};
    co_return co_await run_in(context, std::move(id), std::move(command), signals);
}

}  // namespace

Task<int> run(Context& context, NewSandbox sandbox, Command command, bool keep) {
    co_return co_await attempt(context, run_once(context, std::move(sandbox), std::move(command), keep));
}

Task<int> exec(Context& context, std::string id, Command command) {
    co_return co_await attempt(context, exec_once(context, std::move(id), std::move(command)));
}

Task<int> shell(Context& context, std::optional<std::string> id, NewSandbox sandbox, Command command) {
    command.terminal = ::isatty(STDIN_FILENO) == 1;
    command.interactive = true;
    if (command.argv.empty()) command.argv = {"/bin/bash", "-l"};
    if (const auto term = from_environment("TERM"); term && command.terminal)
        command.env.emplace_back("TERM", *term);
    if (id) co_return co_await exec(context, *std::move(id), std::move(command));
    co_return co_await run(context, std::move(sandbox), std::move(command), false);
}

}  // namespace oyat::cli
