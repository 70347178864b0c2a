#include "cli/command_session.hpp"

#include <boost/asio/this_coro.hpp>
#include <boost/json/array.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/serialize.hpp>
#include <csignal>
#include <memory>
#include <optional>

#include "cli/failure.hpp"
#include "cli/json_read.hpp"
#include "cli/stdin_reader.hpp"
#include "io/framed_stream.hpp"
#include "io/race.hpp"

namespace oyat::cli {
namespace {

constexpr int kPatience = 3;  // Ctrl-C: once asks the program, the third time leaves it
// How long a program whose output nobody reads may go on writing after it was asked to end.
constexpr Millis kUnreadGrace{1000};

struct Session {
    const Context& context;
    Command command;
    FramedStream frames;
    Signals& signals;
    std::optional<int> exit_code;
    int interrupts = 0;
    bool left = false;
    std::optional<MonoTime> unread_since;  // our own output's reader went away
};

std::string size_json() {
    const TerminalSize size = terminal_size();
    return boost::json::serialize(boost::json::object{{"cols", size.cols}, {"rows", size.rows}});
}

Task<> wait_forever() {
    Condition never;
    co_await never.wait();
}

boost::json::value parsed(const std::string& bytes) {
    boost::system::error_code problem;
    boost::json::value value = boost::json::parse(bytes, problem);
    return problem ? boost::json::value{} : value;
}

// The exit code to pass on, and a word on standard error where the code alone would mislead.
int conclude(const boost::json::value& end) {
    const Paint paint{STDERR_FILENO};
    const std::string event = text(end, "event");
    const auto say = [&](std::string_view what) {
        print_to(STDERR_FILENO,
                 paint.yellow("oyat:") + " " + std::string{what} + paint.dim(" (" + event + ")") + "\n");
    };
    if (flag(end, "timed_out")) {
        say("the command was ended by its time limit");
        return kTimedOut;
    }
    if (flag(end, "oom")) {
        say("a process was killed: the sandbox's memory limit was reached");
    } else if (const std::string limit = text(end, "limit"); !limit.empty()) {
        say("the limit of " + printable(limit) + " was reached");
    }
    if (const auto signal = number(end, "signal"); signal > 0) return kKilledBy + static_cast<int>(signal);
    return static_cast<int>(number(end, "exit_code"));
}

// What `| head` does to a local program: it ends, with all that it started, so that nothing is left running
// for nobody.
Task<> deliver(Session& session, int fd, const std::string& bytes) {
    const MonoTime now = SystemClock{}.mono();
    if (session.unread_since) {
        if (now - *session.unread_since > kUnreadGrace)
            co_await session.frames.write('k', std::to_string(SIGKILL));
    } else if (!try_print_to(fd, bytes)) {
        session.unread_since = now;
        co_await session.frames.write('k', std::to_string(SIGTERM));
    }
}

Task<> take_output(Session& session) {
    while (std::optional<FramedStream::Frame> frame = co_await session.frames.read()) {
        switch (frame->kind) {
            case 's':
                if (!session.command.detached) break;
                print(session.context.json ? frame->bytes + "\n"
                                           : std::to_string(number(parsed(frame->bytes), "pid")) + "\n");
                session.exit_code = 0;
                co_return;
            case 'o':
            case 'p': co_await deliver(session, STDOUT_FILENO, frame->bytes); break;
            case 'e': co_await deliver(session, STDERR_FILENO, frame->bytes); break;
            case 'x':
                session.exit_code =
                    session.unread_since ? kKilledBy + SIGPIPE : conclude(parsed(frame->bytes));
                break;
            case 'f': throw Failure::from_answer(0, frame->bytes);
            default: break;
        }
    }
}

Task<> send_input(Session& session) {
    if (!session.command.interactive) co_await wait_forever();
    StdinReader input{co_await boost::asio::this_coro::executor};
    for (std::string bytes = co_await input.next(); !bytes.empty(); bytes = co_await input.next()) {
        co_await session.frames.write('i', bytes);
    }
    co_await session.frames.write('c', "");
    co_await wait_forever();
}

// Returns when the person no longer wants to wait.
Task<> pass_signals(Session& session) {
    for (;;) {
        const int signal = co_await session.signals.next();
        if (signal == SIGWINCH) {
            if (session.command.terminal) co_await session.frames.write('r', size_json());
            continue;
        }
        if (++session.interrupts == kPatience || signal == SIGHUP) break;
        const int passed = session.interrupts == 1 ? signal : SIGKILL;
        co_await session.frames.write('k', std::to_string(passed));
    }
    session.left = true;
}

Task<int> attend_command(const Context& context, std::unique_ptr<Stream> stream, std::string order,
                         Command command, Signals& signals) {
    Session session{context, std::move(command), FramedStream{*stream}, signals};
    std::string lost = "the server went away while the command ran";
    co_await session.frames.write('q', order);
    std::optional<RawTerminal> raw;
    if (session.command.terminal && session.command.interactive) raw.emplace();
    try {
        co_await race(take_output(session), send_input(session), pass_signals(session));
    } catch (const Failure&) {
        throw;  // the server's own words
    } catch (const Error& error) {
        if (error.code() == Errc::canceled) throw;
        lost += ": " + error.message();
    }
    if (session.exit_code) co_return *session.exit_code;
    if (session.left) co_return kKilledBy + SIGINT;
    throw Failure{Error{Errc::unavailable, Fault::engine, std::move(lost)},
                  "the command goes on in the sandbox: 'oyat logs ID' shows what becomes of it"};
}

}  // namespace

Task<int> run_in(Context& context, std::string id, Command command, Signals& signals) {
    boost::json::object env;
    for (const auto& [name, value] : command.env) env[name] = value;
    boost::json::object body{{"argv", boost::json::array(command.argv.begin(), command.argv.end())},
                             {"env", std::move(env)},
                             {"stdin", command.interactive}};
    if (!command.cwd.empty()) body["cwd"] = command.cwd;
    if (!command.user.empty()) body["user"] = command.user;
    if (command.timeout) body["timeout_ms"] = command.timeout->count();
    if (command.terminal) {
        const TerminalSize size = terminal_size();
        body["pty"] = {{"cols", size.cols}, {"rows", size.rows}};
    }
    std::unique_ptr<Stream> stream =
        co_await context.client.upgrade("/v1/sandboxes/" + id + "/exec", "oyat-command");
    co_return co_await attend_command(context, std::move(stream), boost::json::serialize(body),
                                      std::move(command), signals);
}

}  // namespace oyat::cli
