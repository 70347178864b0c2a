#include "http/server.hpp"

#include <gtest/gtest.h>

#include <string>

#include "http/loopback.hpp"
#include "io/gate.hpp"
#include "io/race.hpp"
#include "io/run.hpp"
#include "io/task_group.hpp"

namespace oyat::http {
namespace {

using namespace std::chrono_literals;
using namespace testing;

// Answers with what it understood; the query chooses how.
Task<> echo(Exchange& exchange) {
    const RequestHead& head = exchange.request();
    if (head.path == "/ignore-body") co_return co_await exchange.respond(200, {}, "ignored");
    if (head.path == "/throw") throw Error{Errc::internal, "it broke"};
    if (head.path == "/silent") co_return;
    std::string body = co_await exchange.read_whole_body(1 << 20);
    if (co_await answered_oddly(exchange)) co_return;
    if (head.path == "/nothing") {
        co_await exchange.respond(204, {}, "");
    } else {
        co_await exchange.respond(200, {}, head.method + " " + head.target + " [" + body + "]");
    }
}

struct Running {
    explicit Running(Executor executor, Handler handler = echo, ServerOptions options = {})
        : server{executor, std::move(handler), options}, port{server.listen("127.0.0.1", 0)} {}
    Server server;
    std::uint16_t port;
};

Task<std::string> ask(std::string bytes, ServerOptions options = {}) {
    Running running{co_await boost::asio::this_coro::executor, echo, options};
    std::string answer = co_await exchange_raw(running.port, std::move(bytes));
    co_await running.server.close(1s);
    co_return answer;
}

std::string get(std::string_view path, std::string_view fields = "Connection: close\r\n") {
    return "GET " + std::string{path} + " HTTP/1.1\r\nHost: a\r\n" + std::string{fields} + "\r\n";
}

TEST(Server, AnswersARequest) {
    const std::string answer = run(ask(get("/a?b=c")));
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 200 OK\r\n")) << answer;
    EXPECT_TRUE(has(answer, "\r\nContent-Length: 13\r\n")) << answer;
    EXPECT_TRUE(has(answer, "\r\nDate: ")) << answer;
    EXPECT_TRUE(answer.ends_with("\r\n\r\nGET /a?b=c []")) << answer;
}

TEST(Server, AnswersPipelinedRequestsInTurn) {
    const std::string answer =
        run(ask(get("/1", "") + "POST /2 HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\nhi" +
                "POST /3 HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n" +
                "2\r\nho\r\n1\r\n!\r\n0\r\n\r\n\r\n" + get("/4")));
    EXPECT_EQ(count_of(answer, "HTTP/1.1 200 OK"), 4u) << answer;
    EXPECT_TRUE(has(answer, "GET /1 []")) << answer;
    EXPECT_TRUE(has(answer, "POST /2 [hi]")) << answer;
    EXPECT_TRUE(has(answer, "POST /3 [ho!]")) << answer;
    EXPECT_TRUE(answer.ends_with("GET /4 []")) << answer;
}

TEST(Server, StreamsInChunks) {
    EXPECT_TRUE(run(ask(get("/stream"))).ends_with("\r\n\r\n4\r\none,\r\n3\r\ntwo\r\n0\r\n\r\n"));
}

TEST(Server, SpeaksHttp10WithoutChunksAndCloses) {
    const std::string answer = run(ask("GET /stream HTTP/1.0\r\n\r\n"));
    EXPECT_TRUE(has(answer, "\r\nConnection: close\r\n")) << answer;
    EXPECT_TRUE(answer.ends_with("\r\n\r\none,two")) << answer;
}

TEST(Server, SendsNoBodyWhereNoneBelongs) {
    const std::string head = run(ask("HEAD /a HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
    EXPECT_TRUE(has(head, "\r\nContent-Length: 10\r\n")) << head;
    EXPECT_TRUE(head.ends_with("\r\n\r\n")) << head;
    const std::string nothing = run(ask(get("/nothing")));
    EXPECT_FALSE(has(nothing, "Content-Length")) << nothing;
    EXPECT_TRUE(nothing.ends_with("\r\n\r\n")) << nothing;
}

TEST(Server, TurnsFailuresIntoOneJsonAnswer) {
    const std::string answer = run(ask(get("/throw", "")));
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 500 ")) << answer;
    EXPECT_TRUE(has(answer, "\r\nConnection: close\r\n")) << answer;
    EXPECT_TRUE(answer.ends_with("\r\n\r\n{\"code\":500,\"message\":\"it broke\"}")) << answer;
    EXPECT_TRUE(run(ask(get("/silent", ""))).starts_with("HTTP/1.1 500 "));
}

TEST(Server, ABrokenAnswerDoesNotLookWhole) {
    const std::string answer = run(ask(get("/break", "")));
    EXPECT_TRUE(answer.ends_with("5\r\nbegun\r\n")) << answer;
    const std::string sized = run(ask(get("/short", "")));
    EXPECT_TRUE(has(sized, "Content-Length: 10")) << sized;
    EXPECT_TRUE(sized.ends_with("begun")) << sized;
}

// The request behind a refused one must never be seen: it may be inside the first one's body (threats C-05).
TEST(Server, RefusesAmbiguousRequestsAndCloses) {
    const std::string smuggled = "GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n";
    for (const std::string_view head : {
             "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n",
             "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nContent-Length: 0\r\n\r\n",
             "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: +5\r\n\r\n",
             "GET / HTTP/1.1\nHost: a\n\n",
             "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
             "GET / HTTP/1.1\r\nHost: a\r\n b\r\n\r\n",
             "GET http://b/ HTTP/1.1\r\nHost: a\r\n\r\n",
             "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\nX\r\n",
             "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nHost: b\r\n\r\n",
             "POST / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nxx\r\n0\r\n\r\n",
         }) {
        const std::string answer = run(ask(std::string{head} + smuggled));
        EXPECT_TRUE(answer.starts_with("HTTP/1.1 400 ")) << head << "\n" << answer;
        EXPECT_EQ(count_of(answer, "HTTP/1.1 "), 1u) << head << "\n" << answer;
    }
}

TEST(Server, RefusesHeadsThatAreTooLong) {
    const std::string answer =
        run(ask("GET / HTTP/1.1\r\nHost: a\r\nX: " + std::string(1 << 20, 'x') + "\r\n\r\n"));
    EXPECT_TRUE(answer.starts_with("HTTP/1.1 431 ")) << answer;
}

TEST(Server, NothingFollowsAnUpgradeThatWasNotGranted) {
    const std::string answer =
        run(ask(get("/1", "Connection: Upgrade\r\nUpgrade: websocket\r\n") + get("/2", "")));
    EXPECT_EQ(count_of(answer, "HTTP/1.1 200"), 1u) << answer;
    EXPECT_TRUE(has(answer, "Connection: close")) << answer;
}

TEST(Server, SkipsABodyThatNobodyRead) {
    const std::string answer = run(ask(
        "POST /ignore-body HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n" +
        get("/2")));
    EXPECT_EQ(count_of(answer, "HTTP/1.1 200"), 2u) << answer;
    EXPECT_TRUE(answer.ends_with("GET /2 []")) << answer;
}

Task<> expect_continue() {
    Running running{co_await boost::asio::this_coro::executor};
    auto stream = co_await connect_loopback(running.port);
    co_await stream->write_all(
        "POST /a HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
    EXPECT_EQ(co_await read_until(*stream, "\r\n\r\n"), "HTTP/1.1 100 Continue\r\n\r\n");
    co_await stream->write_all("hi" + get("/2"));
    const std::string answer = co_await read_to_end(*stream);
    EXPECT_TRUE(has(answer, "POST /a [hi]") && has(answer, "GET /2 []")) << answer;
    stream->close();
    // Nobody reads the body, so the client was not told to send it, and what follows may or may not be the
    // body.
    const std::string refused = co_await exchange_raw(
        running.port,
        "POST /ignore-body HTTP/1.1\r\nHost: a\r\nContent-Length: 40\r\nExpect: 100-continue\r\n\r\n" +
            get("/2"));
    EXPECT_TRUE(refused.starts_with("HTTP/1.1 200 ") && has(refused, "Connection: close")) << refused;
    EXPECT_EQ(count_of(refused, "HTTP/1.1 "), 1u) << refused;
    co_await running.server.close(1s);
}

TEST(Server, SendsContinueOnlyWhenTheBodyIsWanted) {
    run(expect_continue());
}

TEST(Server, EndsSlowClients) {
    ServerOptions options;
    options.head_timeout = options.body_timeout = options.idle_timeout = 50ms;
    EXPECT_TRUE(run(ask("GET / HTT", options)).starts_with("HTTP/1.1 408 "));
    EXPECT_TRUE(run(ask("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc", options))
                    .starts_with("HTTP/1.1 408 "));
    EXPECT_EQ(run(ask("", options)), "");
}

Task<> too_many() {
    ServerOptions options;
    options.max_connections_per_peer = 2;
    Running running{co_await boost::asio::this_coro::executor, echo, options};
    auto first = co_await connect_loopback(running.port);
    co_await first->write_all(get("/1", ""));
    co_await read_until(*first, "[]");
    auto second = co_await connect_loopback(running.port);
    co_await second->write_all(get("/2", ""));
    co_await read_until(*second, "[]");
    EXPECT_EQ(co_await exchange_raw(running.port, get("/3")), "");
    EXPECT_EQ(running.server.connections(), 2u);
    second->close();
    while (running.server.connections() > 1) co_await yield_now();
    EXPECT_TRUE(has(co_await exchange_raw(running.port, get("/3")), "GET /3 []"));
    co_await running.server.close(1s);
    EXPECT_EQ(running.server.connections(), 0u);
}

TEST(Server, LimitsTheConnectionsOfOnePeer) {
    run(too_many());
}

struct Watched {
    Gate started;
    bool gone = false;
    Gate done;
};

Task<> send_for_ever(Exchange& exchange) {
    co_await exchange.start(200, {}, std::nullopt);
    Condition never;
    co_await never.wait();
}

Task<> client_leaves(std::string pipelined) {
    Watched watched;
    Running running{co_await boost::asio::this_coro::executor, [&watched](Exchange& exchange) -> Task<> {
                        co_await exchange.read_whole_body(0);
                        watched.started.open();
                        watched.gone = co_await race(send_for_ever(exchange), exchange.client_gone()) == 1;
                        watched.done.open();
                        exchange.abort();
                    }};
    auto stream = co_await connect_loopback(running.port);
    co_await stream->write_all(get("/", "") + pipelined);
    EXPECT_TRUE(has(co_await read_until(*stream, "\r\n\r\n"), "chunked")) << "the head comes before any body";
    stream->close();
    co_await watched.done.pass();
    EXPECT_TRUE(watched.gone);
    co_await running.server.close(1s);
}

TEST(ClientGone, NoticesAClientThatCloses) {
    run(client_leaves(""));
}
TEST(ClientGone, NoticesItBehindPipelinedBytes) {
    run(client_leaves("GET /2 HTTP/1.1\r\n"));
}

Task<> watch_and_go_on() {
    Running running{co_await boost::asio::this_coro::executor, [](Exchange& exchange) -> Task<> {
                        co_await race(sleep_for(5ms), exchange.client_gone());
                        co_await exchange.respond(200, {}, exchange.request().path);
                    }};
    const std::string answer = co_await exchange_raw(running.port, get("/1", "") + get("/2", "") + get("/3"));
    EXPECT_TRUE(has(answer, "/1HTTP/1.1") && has(answer, "/2HTTP/1.1") && answer.ends_with("/3")) << answer;
    co_await running.server.close(1s);
}

TEST(ClientGone, EatsNothingOfTheNextRequests) {
    run(watch_and_go_on());
}

Task<> upgrade() {
    Running running{co_await boost::asio::this_coro::executor, [](Exchange& exchange) -> Task<> {
                        auto stream = co_await exchange.take_over("HTTP/1.1 101 Switching Protocols\r\n\r\n");
                        std::array<char, 3> some;
                        for (int i = 0; i < 4; ++i) {
                            const std::size_t got = co_await stream->read_some(some);
                            co_await stream->write_all({some.data(), got});
                        }
                        co_await stream->write_all("bye");
                    }};
    auto stream = co_await connect_loopback(running.port);
    // "early" arrives together with the head.
    co_await stream->write_all(get("/", "Connection: upgrade\r\nUpgrade: x\r\n") + "early");
    EXPECT_EQ(co_await read_until(*stream, "early"), "HTTP/1.1 101 Switching Protocols\r\n\r\nearly");
    co_await stream->write_all("later");
    EXPECT_EQ(co_await read_to_end(*stream), "laterbye");
    co_await running.server.close(1s);
}

TEST(TakeOver, GivesTheConnectionWithWhatWasReadTooEarly) {
    run(upgrade());
}

Task<> close_gracefully() {
    Gate go_on;
    Gate inside;
    Running running{co_await boost::asio::this_coro::executor, [&](Exchange& exchange) -> Task<> {
                        inside.open();
                        co_await go_on.pass();
                        co_await exchange.respond(200, {}, "finished");
                    }};
    auto idle = co_await connect_loopback(running.port);
    auto busy = co_await connect_loopback(running.port);
    co_await busy->write_all(get("/", ""));
    co_await inside.pass();
    TaskGroup group{co_await boost::asio::this_coro::executor};
    group.spawn(running.server.close(10s));
    EXPECT_EQ(co_await read_to_end(*idle), "");
    go_on.open();
    EXPECT_TRUE((co_await read_to_end(*busy)).ends_with("finished"));
    busy->close();
    co_await group.wait_idle();
    EXPECT_EQ(running.server.connections(), 0u);
}

TEST(Server, LetsRunningRequestsEndWhenItCloses) {
    run(close_gracefully());
}

Task<> close_at_once() {
    Gate inside;
    bool canceled = false;
    Running running{co_await boost::asio::this_coro::executor, [&](Exchange& exchange) -> Task<> {
                        inside.open();
                        try {
                            co_await exchange.client_gone();
                        } catch (const Error& e) {
                            canceled = e.code() == Errc::canceled;
                            throw;
                        }
                    }};
    auto stream = co_await connect_loopback(running.port);
    co_await stream->write_all(get("/", ""));
    co_await inside.pass();
    co_await running.server.close(1ms);
    EXPECT_TRUE(canceled);
    EXPECT_EQ(co_await read_to_end(*stream), "");
}

TEST(Server, CutsRequestsThatDoNotEndInTime) {
    run(close_at_once());
}

TEST(Server, KeepsControlCharactersOutOfItsHeads) {
    const auto answer = [](std::string value) -> Task<std::string> {
        Running running{co_await boost::asio::this_coro::executor, [value](Exchange& exchange) -> Task<> {
                            co_await exchange.respond(200, {{"X", value}}, "");
                        }};
        std::string got = co_await exchange_raw(running.port, get("/", ""));
        co_await running.server.close(1s);
        co_return got;
    };
    for (const char* value : {"a\r\nInjected: 1", "a\nInjected: 1", "a\rInjected: 1"}) {
        const std::string got = run(answer(value));
        EXPECT_TRUE(got.starts_with("HTTP/1.1 500 ")) << got;
        EXPECT_FALSE(has(got, "Injected")) << got;
    }
}

}  // namespace
}  // namespace oyat::http
