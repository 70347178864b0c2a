#include "api/native/command_stream.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include "base/throwing.hpp"
#include "io/channel.hpp"
#include "io/run.hpp"
#include "io/task_group.hpp"
#include "io/timer.hpp"

namespace oyat::native {
namespace {

class FakeProcess final : public core::Process {
public:
    [[nodiscard]] std::uint32_t pid() const override { return 7; }
    [[nodiscard]] const core::RunRequest& request() const override { return request_; }
    [[nodiscard]] WallTime started() const override { return {}; }
    [[nodiscard]] std::optional<core::ProcessEnd> end() const override { return std::nullopt; }
    [[nodiscard]] std::unique_ptr<core::Subscription> subscribe() override { return nullptr; }
    Task<> write_input(std::string bytes) override {
        if (reads_nothing) throw Error{Errc::failed_precondition, "the input is closed"};
        log += "in:" + bytes + " ";
        co_return;
    }
    Task<> close_input() override {
        log += "eof ";
        co_return;
    }
    Task<> resize(core::TermSize size) override {
        log += std::to_string(size.cols) + "x" + std::to_string(size.rows) + " ";
        co_return;
    }
    Task<> signal(int number) override {
        log += "signal:" + std::to_string(number) + " ";
        co_return;
    }

    std::string log;
    bool reads_nothing = false;

private:
    core::RunRequest request_;
};

class FakeOutput final : public core::Subscription {
public:
    Task<std::optional<core::ProcessEvent>> next() override { co_return co_await events.pop(); }
    Channel<core::ProcessEvent> events{16};
};

// Both ends of a command's stream, on one loop.
struct Line {
    explicit Line(const Executor& executor) : tasks{executor} {
        int fds[2];
        sys(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), "socketpair");
        here = make_stream(executor, Fd{fds[0]});
        there = make_stream(executor, Fd{fds[1]});
        server.emplace(*there);
        client.emplace(*here);
        tasks.spawn(tell_failures(*server, serve_command(*server, process, output)));
    }
    Task<FramedStream::Frame> frame() {
        auto got = co_await with_timeout(Millis{5000}, "read a frame", client->read());
        co_return got ? *std::move(got) : FramedStream::Frame{};
    }

    std::unique_ptr<Stream> here, there;
    std::optional<FramedStream> server, client;
    FakeProcess process;
    FakeOutput output;
    TaskGroup tasks;
};

void on_a_line(Task<> (*body)(Line&)) {
    Loop loop;
    Line line{loop.executor()};
    loop.run([](Line& l, Task<> (*run)(Line&)) -> Task<> {
        co_await run(l);
        co_await l.tasks.close();
    }(line, body));
}

TEST(CommandStream, SendsPidOutputAndEndInOrder) {
    on_a_line([](Line& line) -> Task<> {
        (void)line.output.events.try_push(core::Output{core::OutputChannel::out, "one"});
        (void)line.output.events.try_push(core::Output{core::OutputChannel::err, "two"});
        (void)line.output.events.try_push(
            core::ProcessEnd{.exit_code = 3, .fault = Fault::command, .event_id = "ev_9"});
        line.output.events.close();
        EXPECT_EQ((co_await line.frame()).bytes, "{\"pid\":7}");
        const auto out = co_await line.frame(), err = co_await line.frame(), end = co_await line.frame();
        EXPECT_EQ(out.kind, 'o');
        EXPECT_EQ(err.kind, 'e');
        EXPECT_EQ(end.kind, 'x');
        EXPECT_NE(end.bytes.find("\"exit_code\":3"), std::string::npos) << end.bytes;
        EXPECT_NE(end.bytes.find("\"event\":\"ev_9\""), std::string::npos) << end.bytes;
    });
}

TEST(CommandStream, PassesInputSignalsAndSizes) {
    on_a_line([](Line& line) -> Task<> {
        co_await line.client->write('i', "abc");
        co_await line.client->write('r', R"({"cols":100,"rows":30})");
        co_await line.client->write('k', "15");
        co_await line.client->write('c', "");
        while (line.process.log.find("eof") == std::string::npos) co_await yield_now();
        for (const char* part : {"in:abc ", "100x30 ", "signal:15 "}) {
            EXPECT_NE(line.process.log.find(part), std::string::npos) << line.process.log;
        }
    });
}

TEST(CommandStream, InputThatNobodyReadsEndsNothing) {
    on_a_line([](Line& line) -> Task<> {
        line.process.reads_nothing = true;
        for (int i = 0; i < 100; ++i) co_await line.client->write('i', "lost");
        (void)line.output.events.try_push(core::ProcessEnd{});
        line.output.events.close();
        EXPECT_EQ((co_await line.frame()).kind, 's');
        EXPECT_EQ((co_await line.frame()).kind, 'x');
    });
}

TEST(CommandStream, RefusesFramesThatItDoesNotKnow) {
    for (const auto& [kind, bytes] :
         {std::pair{'z', ""}, {'k', "0"}, {'k', "999"}, {'k', "x"}, {'r', "{}"}, {'r', "no"}}) {
        Loop loop;
        Line line{loop.executor()};
        loop.run([](Line& l, char k, std::string b) -> Task<> {
            co_await l.client->write(k, b);
            EXPECT_EQ((co_await l.frame()).kind, 's');
            const auto failure = co_await l.frame();
            EXPECT_EQ(failure.kind, 'f') << k << b;
            EXPECT_NE(failure.bytes.find("invalid_argument"), std::string::npos) << failure.bytes;
            co_await l.tasks.close();
        }(line, kind, bytes));
    }
}

TEST(CommandStream, EndsWhenTheClientLeaves) {
    on_a_line([](Line& line) -> Task<> {
        EXPECT_EQ((co_await line.frame()).kind, 's');
        line.here->close();
        co_await with_timeout(Millis{5000}, "the stream ends", line.tasks.wait_idle());
    });
}

}  // namespace
}  // namespace oyat::native
