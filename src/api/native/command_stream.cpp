#include "api/native/command_stream.hpp"

#include <boost/json/object.hpp>
#include <charconv>

#include "api/native/body.hpp"
#include "api/native/error_answer.hpp"
#include "base/throwing.hpp"
#include "core/event_json.hpp"
#include "io/channel.hpp"
#include "io/race.hpp"
#include "rpc/message.hpp"

namespace oyat::native {
namespace {

constexpr std::size_t kMaxQueuedInput =
    16;  // frames that wait for the program to read, so that signals may pass
constexpr int kHighestSignal = 64;
constexpr std::uint64_t kMaxCells = 4096;

std::string end_json(const core::ProcessEnd& end) {
    boost::json::object shown{{"exit_code", end.exit_code}, {"signal", end.signal},
                              {"timed_out", end.timed_out}, {"oom", end.oom},
                              {"limit", end.limit},         {"event", end.event_id}};
    shown["fault"] = nullptr;
    if (end.fault) shown["fault"] = to_string(*end.fault);
    std::string text;
    core::append_json(text, shown);
    return text;
}

char kind_of(core::OutputChannel channel) {
    switch (channel) {
        case core::OutputChannel::out: return 'o';
        case core::OutputChannel::err: return 'e';
        case core::OutputChannel::pty: return 'p';
    }
    return 'o';
}

struct Session {
    FramedStream& frames;
    core::Process& process;
    core::Subscription& output;
    Channel<std::string> input{kMaxQueuedInput};
};

Task<> send_output(Session& session) {
    while (const std::optional<core::ProcessEvent> event = co_await session.output.next()) {
        if (const auto* output = std::get_if<core::Output>(&*event)) {
            co_await session.frames.write(kind_of(output->channel), output->bytes);
        } else {
            co_await session.frames.write('x', end_json(std::get<core::ProcessEnd>(*event)));
        }
    }
}

Task<> resize(Session& session, const std::string& text) {
    Body body{or_throw(rpc::parse_object(text))};
    const auto cols = body.number("cols", kMaxCells), rows = body.number("rows", kMaxCells);
    body.done();
    if (!cols || !rows) throw Error{Errc::invalid_argument, "cols and rows are needed"};
    co_await session.process.resize({static_cast<std::uint32_t>(*cols), static_cast<std::uint32_t>(*rows)});
}

Task<> send_signal(Session& session, const std::string& text) {
    int number = 0;
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (problem != std::errc{} || end != text.data() + text.size() || number < 1 || number > kHighestSignal) {
        throw Error{Errc::invalid_argument, "not the number of a signal"};
    }
    co_await session.process.signal(number);
}

// Returns when the client has gone.
Task<> take_frames(Session& session) {
    while (std::optional<FramedStream::Frame> frame = co_await session.frames.read()) {
        switch (frame->kind) {
            case 'i': (void)co_await session.input.push(std::move(frame->bytes)); break;
            case 'c': session.input.close(); break;
            case 'r': co_await resize(session, frame->bytes); break;
            case 'k': co_await send_signal(session, frame->bytes); break;
            default: throw Error{Errc::invalid_argument, "a frame of an unknown kind"};
        }
    }
}

// Input that nobody reads any more, because the program has closed it or has ended, is dropped: the end of
// the command tells the rest.
Task<> feed_input(Session& session) {
    try {
        while (std::optional<std::string> bytes = co_await session.input.pop()) {
            co_await session.process.write_input(*std::move(bytes));
        }
        co_await session.process.close_input();
    } catch (const Error& error) {
        if (error.code() == Errc::canceled) throw;
    }
    while (co_await session.input.pop()) {
    }
}

// The race ends with the output or with the client, not with the input.
Task<> feed_input_forever(Session& session) {
    co_await feed_input(session);
    Condition never;
    co_await never.wait();
}

}  // namespace

Task<> serve_command(FramedStream& frames, core::Process& process, core::Subscription& output) {
    Session session{frames, process, output};
    co_await frames.write('s', "{\"pid\":" + std::to_string(process.pid()) + "}");
    co_await race(send_output(session), take_frames(session), feed_input_forever(session));
}

Task<> tell_failures(FramedStream& frames, Task<> task) {
    std::string failure;
    try {
        co_await std::move(task);
    } catch (const Error& error) {
        if (error.code() == Errc::canceled) throw;
        failure = error_json(error);
    }
    // The client may be what failed; then this fails as well, and there is nobody to tell.
    if (!failure.empty()) co_await frames.write('f', failure);
}

}  // namespace oyat::native
